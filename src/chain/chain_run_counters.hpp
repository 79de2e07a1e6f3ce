// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "chain/measured_samples.hpp"

namespace penstock::detail::runtime {

/// Counts and times of one ChainRun. Only its runner changes them. Any thread may read the members that are atomic
/// tallies.
struct ChainRunCounters {
  std::vector<StepCounters> steps;  ///< one element per step
  StepCounters loads;               ///< loads of blocks, and advice to the source
  ChainCounters totals;
  /// `parents` counts shared records. `reads` counts the records of a stream. The time in `reads` also includes loads
  /// of blocks and advice to the source.
  ChainCounters parents, reads;
  std::unique_ptr<MeasuredSamples> measured_samples;  ///< times of measured chains; null: no times are kept
  std::unique_ptr<MeasuredSamples> measured_loads;    ///< times of measured loads of blocks; null: no times are kept
  std::uint64_t sample_ns = 0;   ///< wall time of the last measured chain; 0 = no chain was measured so far
  std::uint64_t load_count = 0;  ///< number of blocks that the runner loaded
  std::uint64_t load_ns = 0;     ///< wall time of the last measured load

  /// Returns how many chains the measured chain of this ticket represents; 0: the chain is not measured.
  std::uint64_t stands_for(std::uint64_t ticket) const noexcept {
    return measures(ticket, totals.measured.get(), sample_ns);
  }
};

}  // namespace penstock::detail::runtime
