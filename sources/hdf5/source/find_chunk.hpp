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

/// The chunk whose first element this is, inside the file; none where it was never written. Asks the library, which
/// looks into its index and reads nothing. @throws Error(corrupt | io).
std::optional<StoredChunk> find_chunk(const Dataset& dataset, std::span<const std::uint64_t> first);

/// Where the chunks of unfiltered rows lie, each found once. Any thread.
class ChunkOffsets {
 public:
  explicit ChunkOffsets(const Dataset& dataset);
  /// Offset of the chunk that a row lies in; none where it was never written. @throws as find_chunk.
  std::optional<std::uint64_t> offset_of(const Dataset& dataset, std::uint64_t row) const;

 private:
  std::uint64_t chunks_;
  std::unique_ptr<std::atomic<std::uint64_t>[]> known_;  ///< 0: not known yet, 1: never written, else 2 + offset
};

}  // namespace penstock::hdf5
