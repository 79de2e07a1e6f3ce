// SPDX-License-Identifier: Apache-2.0
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

/// Cost of a step.
struct StepCounts {
  std::uint64_t cpu_ns = 0, bytes = 0, wait_ns = 0;
};

struct StepTotals : StepCounts {
  std::uint64_t remarked = 0;    ///< images
  const char* remark = nullptr;  ///< the decoder's remark about these images
};

/// How often a part of the chain ran, and how many of these runs the measured chains stand for.
struct ChainCounts {
  std::uint64_t all = 0, measured_for = 0;
};

/// Counts that only grow during a run, summed over all runners.
struct RunCounts {
  ChainCounts samples, parents, reads;      ///< per sample, record that samples share, and record of a stream
  StepCounts loads;                         ///< loads of blocks and advice to the source, all of them
  std::uint64_t measured = 0, wall_ns = 0;  ///< measured chains, and the time of all chains that they stand for
  std::uint64_t made = 0;                   ///< samples that a cache did not have; only with a cache
  std::uint64_t kept = 0;                   ///< samples that have, or will get, a row
  std::uint64_t copied_bytes = 0;
  std::uint64_t helped = 0, joined = 0;  ///< samples that the consumer's thread made: for lack of a runner, or as one
                                         ///< of the runners
  std::uint64_t busy_ns = 0;
  std::uint64_t delay_ns = 0, delay_measured_ns = 0;  ///< time that runners waited for a core, and the whole time in
                                                      ///< which that was measured
  IdleTime::Counts idle;
  WaitProbe::Counts waits;
};

/// Times of some chains, or of some loads of blocks, one by one.
struct MeasuredTimes {
  std::vector<MeasuredSample> run;   ///< some of each runner's, of the whole run
  std::vector<MeasuredSample> last;  ///< the last ones of each runner
};

/// Memory of a run: the number of each kind, and the size of each or of the largest.
struct MemoryTotals {
  std::size_t depth = 0, buffer_bytes = 0;  ///< batches in the ring
  std::size_t entries = 0, entry_bytes = 0;
  std::size_t shared_records = 0, shared_record_bytes = 0;
  std::size_t scratch_bytes = 0;  ///< the most that one runner used
};

/// Counts of a run, for the report.
struct RunTotals : RunCounts {
  std::vector<StepTotals> steps;
  BlockSchedule::Counts blocks;
  MeasuredTimes sample_times, load_times;
  MemoryTotals memory;
  unsigned threads = 0;  ///< limit of runners
  unsigned threads_seen = 0;
  std::size_t readers = 0;
  std::string reader_error;  ///< why no further readers could be opened
};

/// Returns what was counted after `before`, an earlier count of the same run. Values measured one by one are the last
/// ones. Maxima, present numbers and remarks about images are those of the whole run.
RunTotals since(RunTotals now, const RunTotals& before);

/// Adds the counts of two runs of the same chain, one after the other. Maxima are taken over both; present numbers are
/// those of the second.
RunTotals together(RunTotals first, const RunTotals& second);

}  // namespace penstock::detail::runtime
