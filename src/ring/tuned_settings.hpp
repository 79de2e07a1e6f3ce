// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::detail::runtime {

/// The settings that may be changed during a run. No setting changes what batches contain.
struct TunedSettings {
  unsigned threads = 0;         ///< runners
  unsigned depth = 0;           ///< batches in the ring
  std::size_t entries = 0;      ///< entries of the reorder buffer, for a reordered pipeline
  std::size_t block_limit = 0;  ///< bytes for blocks that records share

  bool operator==(const TunedSettings&) const = default;
};

/// Why a setting can't be raised above its value in `TuningBounds::most`.
enum class RaiseLimit : std::uint8_t {
  option,    ///< the caller chose the value
  executor,  ///< the executor has no more threads
  stream,    ///< a stream can't be read a second time
  limits,    ///< memory does not allow a higher value, or higher values are not tried
};

/// How far the settings may be raised, how many bytes are reserved for raises, and how many bytes one raise takes.
struct TuningBounds {
  TunedSettings first;  ///< settings at the start of the run
  TunedSettings most;
  RaiseLimit threads_by = RaiseLimit::option, depth_by = RaiseLimit::option, entries_by = RaiseLimit::option,
             blocks_by = RaiseLimit::option;
  bool tunes_threads = false;   ///< the number of runners may be lowered as well
  std::size_t bytes = 0;        ///< most bytes for all raises together
  std::size_t depth_bytes = 0;  ///< bytes per further batch
  std::size_t entry_bytes = 0;  ///< bytes per entry
  std::size_t held = 0;         ///< samples that wait outside the entries

  /// Returns the bytes that the settings `of` take in addition to `first`. While the number of entries changes, the old
  /// entries, the new entries and the samples outside the entries exist together. So the number of entries counts
  /// twice.
  std::size_t cost(const TunedSettings& of) const noexcept {
    return (of.depth - first.depth) * depth_bytes +
           (of.entries != first.entries ? (2 * of.entries + held) * entry_bytes : 0) +
           (of.block_limit - first.block_limit);
  }
};

}  // namespace penstock::detail::runtime
