#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "blocks/block_schedule.hpp"
#include "chain/measured_samples.hpp"
#include "engine/idle_time.hpp"
#include "engine/wait_probe.hpp"

namespace penstock::detail::runtime {

/// What a step took.
struct StepCounts {
  std::uint64_t cpu_ns = 0, bytes = 0, wait_ns = 0;
};

struct StepTotals : StepCounts {
  std::uint64_t remarked = 0;    ///< images
  const char* remark = nullptr;  ///< what its decoder says of them
};

/// How often a part of the chain ran, and how often as far as the measured chains stand for it.
struct ChainCounts {
  std::uint64_t all = 0, measured_for = 0;
};

/// What only grows while a run goes on, over all runners.
struct RunCounts {
  ChainCounts samples, parents, reads;      ///< for each sample, record that samples share, and record of a stream
  StepCounts loads;                         ///< loads of blocks and advice to the source, all of them
  std::uint64_t measured = 0, wall_ns = 0;  ///< measured chains, and the time of those that they stand for
  std::uint64_t made = 0;                   ///< samples that a cache did not have; where there is one
  std::uint64_t kept = 0;                   ///< samples that have a row, or will
  std::uint64_t copied_bytes = 0;
  std::uint64_t helped = 0, joined = 0;  ///< samples that the consumer's thread made: for lack of a runner, or as one
  std::uint64_t busy_ns = 0;
  std::uint64_t delay_ns = 0, delay_measured_ns = 0;  ///< runners waited for a core, and the time that this was in
  IdleTime::Counts idle;
  WaitProbe::Counts waits;
};

/// What some chains, or loads of blocks, took, one by one.
struct MeasuredTimes {
  std::vector<MeasuredSample> run;   ///< some of each runner's, of the whole run
  std::vector<MeasuredSample> last;  ///< the last ones of each runner
};

/// What of a run takes memory: how many there are, and how large each is, or the largest was.
struct MemoryTotals {
  std::size_t depth = 0, buffer_bytes = 0;  ///< batches in the ring
  std::size_t entries = 0, entry_bytes = 0;
  std::size_t shared_records = 0, shared_record_bytes = 0;
  std::size_t scratch_bytes = 0;  ///< the most of any runner
};

/// What was counted in a run, for the report.
struct RunTotals : RunCounts {
  std::vector<StepTotals> steps;
  BlockSchedule::Counts blocks;
  MeasuredTimes sample_times, load_times;
  MemoryTotals memory;
  unsigned threads = 0;  ///< runners that there may be
  unsigned threads_seen = 0;
  std::size_t readers = 0;
  std::string reader_error;  ///< why there are no more of them
};

/// What was counted after `before`, which the same run had counted; of what was measured one by one, the last. The most
/// of something, what there is, and what is remarked of images are those of the whole run.
RunTotals since(RunTotals now, const RunTotals& before);

/// What two runs of the same chain counted, one after the other. The most of something is that of both, and what there
/// is that of the second.
RunTotals together(RunTotals first, const RunTotals& second);

}  // namespace penstock::detail::runtime
