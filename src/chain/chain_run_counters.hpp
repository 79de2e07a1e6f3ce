#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/counters.hpp"
#include "chain/measured_samples.hpp"

namespace penstock::detail::runtime {

/// What one run of chains counts, and measures. Its runner changes it; any thread reads the tallies.
struct ChainRunCounters {
  std::vector<StepCounters> steps;  ///< one per step
  StepCounters loads;  ///< what it did for the source beside reading samples, loads of blocks and advice: all of it,
                       ///< not what measured chains stand for
  ChainCounters totals;
  ChainCounters parents, reads;                       ///< counts for shared records, and for records of a stream
  std::unique_ptr<MeasuredSamples> measured_samples;  ///< what its measured chains took, one by one; null: not kept
  std::unique_ptr<MeasuredSamples> measured_loads;    ///< what its measured loads of blocks took; null: not kept
  std::uint64_t sample_ns = 0;                        ///< wall time of the last measured chain; 0 = none yet
  std::uint64_t load_count = 0;                       ///< blocks that it loaded
  std::uint64_t load_ns = 0;                          ///< wall time of the last measured load

  /// How many chains this ticket's one stands for; 0: it is not measured.
  std::uint64_t stands_for(std::uint64_t ticket) const noexcept {
    return measures(ticket, totals.measured.get(), sample_ns);
  }
};

}  // namespace penstock::detail::runtime
