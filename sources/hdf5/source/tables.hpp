// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "source/column.hpp"
#include "source/dataset.hpp"
#include "source/file.hpp"
#include "source/find_chunk.hpp"
#include "source/kept_rows.hpp"
#include "source/keys.hpp"

namespace penstock::hdf5 {

/// A dataset with its fields.
struct Table {
  Table(std::shared_ptr<const File> file, const std::string& path, std::size_t keep_bytes)
      : dataset(std::move(file), path, keep_bytes) {}

  Dataset dataset;
  std::vector<Column> columns;
  std::vector<std::size_t> slots;               ///< slots of the columns, in the schema
  std::uint64_t first_block = 0;                ///< number of its first block, counted over all datasets
  std::uint64_t first_record = 0;               ///< number of its first record in the source
  std::unique_ptr<KeptRows> kept;               ///< set if its way is `kept`
  std::unique_ptr<ChunkOffsets> chunk_offsets;  ///< set if its rows are in unfiltered chunks
};

/// One of the files that are read one after the other, or several files with the fields of the same records.
struct Part {
  std::vector<Table> tables;
  std::uint64_t first = 0, rows = 0;  ///< records
  std::optional<Keys> keys;           ///< keys of its records
  std::uint64_t first_key_page = 0;   ///< number of its first page of keys, counted over all files
};

}  // namespace penstock::hdf5
