#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::detail::runtime {

/// What of a run may be changed while it runs. None of it changes a batch.
struct TunedSettings {
  unsigned threads = 0;         ///< runners
  unsigned depth = 0;           ///< batches in the ring
  std::size_t entries = 0;      ///< samples in work, of a reordered pipeline
  std::size_t block_limit = 0;  ///< bytes for blocks that records share

  bool operator==(const TunedSettings&) const = default;
};

/// Why a setting can't be raised beyond its most.
enum class HeldBy : std::uint8_t {
  option,    ///< the caller's choice
  executor,  ///< it has no more threads
  stream,    ///< what it has read can't be read again
  limits,    ///< there is no memory for more, or more is not tried
};

/// How far they may be raised, and what that takes of the memory that is set apart for it.
struct TuningBounds {
  TunedSettings first;  ///< with what the run begins
  TunedSettings most;
  HeldBy threads_by = HeldBy::option, depth_by = HeldBy::option, entries_by = HeldBy::option,
         blocks_by = HeldBy::option;
  bool tunes_threads = false;   ///< there may be fewer runners as well
  std::size_t bytes = 0;        ///< bytes that all raises may take together
  std::size_t depth_bytes = 0;  ///< bytes of one more batch
  std::size_t entry_bytes = 0;  ///< bytes of a sample in work
  std::size_t held = 0;         ///< samples that wait beside those in work

  /// Bytes that those take beyond the first ones. While the number of samples in work changes, two lots of them are
  /// there, with what is held, and the larger one is paid twice.
  std::size_t cost(const TunedSettings& of) const noexcept {
    return (of.depth - first.depth) * depth_bytes +
           (of.entries != first.entries ? (2 * of.entries + held) * entry_bytes : 0) +
           (of.block_limit - first.block_limit);
  }
};

}  // namespace penstock::detail::runtime
