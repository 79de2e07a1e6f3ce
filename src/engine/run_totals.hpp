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
#include "ring/batch_stages.hpp"

namespace penstock::detail::runtime {

/// Cost of a step. `runs`: how often a step of a branch ran; 0 for other steps, which run once for each sample.
struct StepCounts {
  std::uint64_t cpu_ns = 0, bytes = 0, wait_ns = 0, runs = 0;
};

struct StepTotals : StepCounts {
  std::uint64_t remarked = 0;    ///< number of images with a remark
  const char* remark = nullptr;  ///< the decoder's remark about these images
};

/// `all`: how many samples or records a chain made. `measured_for`: how many of them the measured chains represent.
struct ChainCounts {
  std::uint64_t all = 0, measured_for = 0;
};

/// Counts that only grow during a run, summed over all runners.
struct RunCounts {
  ChainCounts samples, parents, reads;      ///< chains of samples, of shared records, and of a stream's records
  StepCounts loads;                         ///< cost of loads of blocks and of advice to the source
  std::uint64_t measured = 0, wall_ns = 0;  ///< number of measured chains; estimated time of all chains
  std::uint64_t made = 0;  ///< samples and shared records that the cache did not have; 0 without a cache
  std::uint64_t kept = 0;  ///< samples that have a row or will get one
  std::uint64_t copied_bytes = 0;
  std::uint64_t helped = 0, joined = 0;  ///< samples that the consumer's thread made. `helped`: because no runner came.
                                         ///< `joined`: as one of the runners
  std::uint64_t busy_ns = 0;
  /// How long runners waited for a core, and how long this was measured.
  std::uint64_t delay_ns = 0, delay_measured_ns = 0;
  IdleTime::Counts idle;
  WaitProbe::Counts waits;
};

/// Times of single chains, or of single loads of blocks.
struct MeasuredTimes {
  std::vector<MeasuredSample> run;   ///< some times of each runner, chosen from the whole run
  std::vector<MeasuredSample> last;  ///< the last times of each runner
};

/// Memory of a run: how many batches, entries and shared records there are. The bytes are those of each of them or of
/// the largest one.
struct MemoryTotals {
  std::size_t depth = 0, buffer_bytes = 0;  ///< batches in the ring
  std::size_t entries = 0, entry_bytes = 0;
  std::size_t shared_records = 0, shared_record_bytes = 0;
  std::size_t scratch_bytes = 0;  ///< the most bytes that one runner used
};

/// Counts of a run, for the report.
struct RunTotals : RunCounts {
  std::vector<StepTotals> steps;
  std::vector<BatchStageCounts> batch_stages;  ///< each stage that the host runs on complete batches
  BlockSchedule::Counts blocks;
  MeasuredTimes sample_times, load_times;
  MemoryTotals memory;
  unsigned threads = 0;  ///< the setting: how many runners there may be
  unsigned threads_seen = 0;
  std::size_t readers = 0;
  std::string reader_error;  ///< why no further readers could be opened
};

/// Returns what was counted after `before`, an earlier count of the same run. Of the measured times, the result has
/// only the last ones. Maxima, present numbers and remarks about images are those of `now`.
RunTotals since(RunTotals now, const RunTotals& before);

/// Adds the counts of two runs of the same chain, of which `second` ran later. Maxima are taken over both runs. Present
/// numbers are the numbers of `second`.
RunTotals together(RunTotals first, const RunTotals& second);

}  // namespace penstock::detail::runtime
