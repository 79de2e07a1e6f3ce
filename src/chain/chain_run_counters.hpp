// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "chain/measured_samples.hpp"

namespace penstock::detail::runtime {

/// Counts and times of one run of chains. Its runner changes them; any thread reads the tallies.
struct ChainRunCounters {
  std::vector<StepCounters> steps;  ///< one per step
  StepCounters loads;  ///< work for the source besides reading samples, namely loads of blocks and advice; measured in
                       ///< full, not extrapolated from measured chains
  ChainCounters totals;
  ChainCounters parents, reads;                       ///< counts for shared records, and for records of a stream
  std::unique_ptr<MeasuredSamples> measured_samples;  ///< times of its measured chains, one by one; null: not kept
  std::unique_ptr<MeasuredSamples> measured_loads;    ///< times of its measured loads of blocks; null: not kept
  std::uint64_t sample_ns = 0;                        ///< wall time of the last measured chain; 0 = none so far
  std::uint64_t load_count = 0;                       ///< number of blocks that it loaded
  std::uint64_t load_ns = 0;                          ///< wall time of the last measured load

  /// Returns how many chains the chain of this ticket stands for; 0: it is not measured.
  std::uint64_t stands_for(std::uint64_t ticket) const noexcept {
    return measures(ticket, totals.measured.get(), sample_ns);
  }
};

}  // namespace penstock::detail::runtime
