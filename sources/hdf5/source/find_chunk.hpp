// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "source/dataset.hpp"

namespace penstock::hdf5 {

/// Returns where in the file a chunk is stored; none if the chunk was never written. `first`: the coordinates of the
/// chunk's first element. Asks the library, which reads only the file's index of chunks. @throws Error(corrupt | io).
std::optional<StoredChunk> find_chunk(const Dataset& dataset, std::span<const std::uint64_t> first);

/// Stores the offsets of chunks of unfiltered rows, so that each offset is looked up only once. If there are more than
/// 2^24 chunks, or more chunks than bytes in the file, no offsets are stored, and each call looks up its chunk. Any
/// thread.
class ChunkOffsets {
 public:
  explicit ChunkOffsets(const Dataset& dataset);
  /// Returns the offset of a row; none if the row's chunk was never written. @throws like find_chunk.
  std::optional<std::uint64_t> offset_of(const Dataset& dataset, std::uint64_t row) const;

 private:
  std::uint64_t chunks_;
  /// One number per chunk: 0 if unknown so far, 1 if the chunk was never written, otherwise 2 + its offset.
  /// Null if no offsets are stored.
  std::unique_ptr<std::atomic<std::uint64_t>[]> known_;
};

}  // namespace penstock::hdf5
