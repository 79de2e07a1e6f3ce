// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/dtype.hpp>
#include <penstock/schema.hpp>
#include <penstock/sources/hdf5_sink.hpp>

#include "library/library.hpp"

namespace penstock::hdf5 {

/// A dataset that the sink writes.
struct StoredDataset {
  enum class Kind : std::uint8_t { numbers, sequences, texts };

  std::string path;  ///< path without a '/' at its beginning
  Kind kind = Kind::numbers;
  DType dtype = DType::u8;
  std::vector<std::uint64_t> dims;  ///< dimensions of a row
  std::size_t row_bytes = 0;        ///< bytes of a stored row, which is a reference if values have no fixed size
  std::uint64_t chunk_rows = 1;
  unsigned deflate = 0;
  bool shuffle = false, fletcher32 = false;
  std::optional<std::size_t> slot;  ///< slot of the field; none for keys
  ClassNames classes = {};          ///< the classes of the dataset's numbers

  bool varies() const noexcept { return kind != Kind::numbers; }
  std::size_t chunk_bytes() const noexcept { return row_bytes * static_cast<std::size_t>(chunk_rows); }
};

/// Bytes of a reference to a value that has no fixed size.
inline constexpr std::size_t reference_bytes = 16;

/// Plans the datasets for `size` samples. @throws Error(invalid_argument | schema_mismatch) if the options can't be
/// carried out; Error(unsupported) if a field can't be stored.
std::vector<StoredDataset> plan_datasets(const Hdf5SinkOptions& options, const Schema& schema, std::uint64_t size);

/// Describes the paths, types, chunks and filters of the datasets: "x: u8[96, 96, 3], 37 rows a chunk, deflate 4; …".
std::string text_of(const std::vector<StoredDataset>& datasets);

/// Returns the dataset's type in the file. Call under the lock.
Handle stored_type(const StoredDataset& dataset);

}  // namespace penstock::hdf5
