// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/extend/sample.hpp>

#include "sink/global_heap.hpp"
#include "sink/shard_data.hpp"
#include "sink/stored_dataset.hpp"

namespace penstock::hdf5 {

/// The last rows of a shard, which don't fill a chunk yet. One thread at a time.
class PartialChunks {
 public:
  explicit PartialChunks(const std::vector<StoredDataset>& datasets);

  /// Returns the bytes of a row before compression: its values, and a reference for each value that has no fixed size.
  /// @throws Error(limit_exceeded) if a sequence is too long; Error(invalid_argument) if the key has a NUL.
  std::uint64_t bytes_of(const Sample& sample, std::string_view key) const;
  /// Adds a row to each dataset. Chunks that are complete after that go to `data`.
  void add(const Sample& sample, std::string_view key, ShardData& data);
  /// Gives the remaining rows to `data`. The rest of their chunks is zeros.
  void end(ShardData& data);

  /// Returns the rows as a text, for `from_text` of an object with the same datasets.
  std::string text() const;
  /// Restores the rows from a result of `text`. @throws Error(corrupt); the error does not name a file.
  void from_text(std::string_view text);
  /// Returns how many rows of a dataset are not in a chunk yet. These numbers may differ between datasets.
  std::uint64_t rows(std::size_t dataset) const;

 private:
  struct Work {
    std::vector<std::byte> rows;
    GlobalHeap heap;
  };
  void add_value(std::size_t dataset, std::span<const std::byte> value, std::size_t element, ShardData& data);
  void give_chunk(std::size_t dataset, ShardData& data);

  const std::vector<StoredDataset>& datasets_;
  std::vector<Work> work_;
};

}  // namespace penstock::hdf5
