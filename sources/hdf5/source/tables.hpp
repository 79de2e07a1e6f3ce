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
#include "source/keys.hpp"
#include "source/rows_in_memory.hpp"

namespace penstock::hdf5 {

/// A dataset, with the fields that are made from it.
struct Table {
  Table(std::shared_ptr<const File> file, const std::string& path, std::size_t keep_bytes)
      : dataset(std::move(file), path, keep_bytes) {}

  Dataset dataset;
  std::vector<Column> columns;
  std::vector<std::size_t> slots;               ///< slot of each column in the schema
  std::uint64_t first_block = 0;                ///< number of the dataset's first block, counted over all datasets
  std::uint64_t first_record = 0;               ///< index in the source of the dataset's first record
  std::unique_ptr<RowsInMemory> kept;           ///< set if the dataset's way is `kept`
  std::unique_ptr<ChunkOffsets> chunk_offsets;  ///< set if `dataset.plain_rows()` is true
};

/// One of the source's paths, with all files that have fields of its records.
struct Part {
  std::vector<Table> tables;
  std::uint64_t first = 0, rows = 0;  ///< index in the source of the part's first record; number of the part's records
  std::optional<Keys> keys;           ///< keys of the part's records
  std::uint64_t first_key_page = 0;   ///< number of the part's first page of keys, counted over all parts
};

}  // namespace penstock::hdf5
