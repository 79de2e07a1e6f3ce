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

/// Returns the chunk whose first element is `first`, which is inside the file; none if it was never written. Asks the
/// library, which looks into its index and reads no data. @throws Error(corrupt | io).
std::optional<StoredChunk> find_chunk(const Dataset& dataset, std::span<const std::uint64_t> first);

/// Offsets of the chunks of unfiltered rows, each found once. Any thread.
class ChunkOffsets {
 public:
  explicit ChunkOffsets(const Dataset& dataset);
  /// Returns the offset of a row's chunk; none if it was never written. @throws like find_chunk.
  std::optional<std::uint64_t> offset_of(const Dataset& dataset, std::uint64_t row) const;

 private:
  std::uint64_t chunks_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> known_;  ///< 0: unknown so far, 1: never written, otherwise 2 + offset
};

}  // namespace penstock::hdf5
