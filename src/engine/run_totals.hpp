#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "blocks/block_schedule.hpp"
#include "chain/measured_samples.hpp"
#include "engine/idle_time.hpp"
#include "engine/wait_looks.hpp"

namespace penstock::detail {

/// What was counted in a run, over all runners, for the report.
struct RunTotals {
  struct StepTotals {
    std::uint64_t cpu_ns = 0, bytes = 0, wait_ns = 0;
    std::uint64_t remarked = 0;    ///< images
    const char* remark = nullptr;  ///< what its decoder says of them
  };
  std::vector<StepTotals> steps;
  StepTotals loads;  ///< loads of blocks and advice to the source, whatever the measured chains stand for
  std::uint64_t samples = 0, copied_bytes = 0, busy_ns = 0;
  std::uint64_t helped = 0, joined = 0;  ///< samples that the consumer's thread made: for lack of a runner, or as one
  std::uint64_t made = 0;                ///< samples that a cache did not have; where there is one
  std::uint64_t measured = 0, stood_for = 0, wall_ns = 0;
  std::uint64_t parents = 0, parents_stood_for = 0, reads = 0, reads_stood_for = 0;
  /// How long runners waited for a core, and the time that this was in.
  std::uint64_t delay_ns = 0, delay_measured_ns = 0;
  IdleTime::Counts idle;
  WaitLooks::Counts waits;
  std::uint64_t kept = 0;                                  ///< samples that have a row, or will
  std::vector<MeasuredSample> measured_samples;            ///< some of each runner's, of the whole run
  std::vector<MeasuredSample> last_samples;                ///< the last ones of each runner
  std::vector<MeasuredSample> measured_loads, last_loads;  ///< the same of loads of blocks
  std::size_t buffer_bytes = 0;
  BlockSchedule::Counts blocks;
  std::size_t entries = 0, entry_bytes = 0, shared_records = 0, shared_record_bytes = 0;
  unsigned threads = 0;  ///< runners that there may be
  unsigned threads_seen = 0;
  std::size_t depth = 0;  ///< batches in the ring
  std::size_t readers = 0;
  std::string reader_error;       ///< why there are no more of them
  std::size_t scratch_bytes = 0;  ///< the most of any runner
};

/// What was counted after `before`, which the same run had counted; of what was measured one by one, the last. The most
/// of something, what there is, and what is remarked of images are those of the whole run.
RunTotals since(RunTotals now, const RunTotals& before);

/// What two runs of the same chain counted, one after the other. The most of something is that of both, and what there
/// is that of the second.
RunTotals together(RunTotals first, const RunTotals& second);

}  // namespace penstock::detail
