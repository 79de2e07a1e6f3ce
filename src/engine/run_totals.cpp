#include "engine/run_totals.hpp"

#include <algorithm>
#include <iterator>

namespace penstock::detail {

namespace {

void take_off(RunTotals::StepTotals& from, const RunTotals::StepTotals& before) {
  from.cpu_ns -= before.cpu_ns;
  from.bytes -= before.bytes;
  from.wait_ns -= before.wait_ns;
}

void add(RunTotals::StepTotals& to, const RunTotals::StepTotals& more) {
  to.cpu_ns += more.cpu_ns;
  to.bytes += more.bytes;
  to.wait_ns += more.wait_ns;
  to.remarked += more.remarked;
  if (more.remark != nullptr) to.remark = more.remark;
}

using Count = std::uint64_t RunTotals::*;
constexpr Count counts[] = {
    &RunTotals::samples,         &RunTotals::copied_bytes, &RunTotals::busy_ns,           &RunTotals::helped,
    &RunTotals::joined,          &RunTotals::made,         &RunTotals::measured,          &RunTotals::stood_for,
    &RunTotals::wall_ns,         &RunTotals::parents,      &RunTotals::parents_stood_for, &RunTotals::reads,
    &RunTotals::reads_stood_for, &RunTotals::delay_ns,     &RunTotals::delay_measured_ns, &RunTotals::kept};
using BlockCount = std::uint64_t BlockSchedule::Counts::*;
constexpr BlockCount block_counts[] = {&BlockSchedule::Counts::loads, &BlockSchedule::Counts::uses,
                                       &BlockSchedule::Counts::again, &BlockSchedule::Counts::saved_by_double};

}  // namespace

RunTotals since(RunTotals now, const RunTotals& before) {
  for (std::size_t i = 0; i < std::min(now.steps.size(), before.steps.size()); ++i)
    take_off(now.steps[i], before.steps[i]);
  take_off(now.loads, before.loads);
  for (const Count count : counts) now.*count -= before.*count;
  for (std::size_t why = 0; why < IdleTime::reasons; ++why) now.idle.idle_ns[why] -= before.idle.idle_ns[why];
  now.idle.all_ns -= before.idle.all_ns;
  for (std::size_t kind = 0; kind < wait_kinds; ++kind) now.waits.waits[kind] -= before.waits.waits[kind];
  now.waits.looks -= before.waits.looks;
  for (const BlockCount count : block_counts) now.blocks.*count -= before.blocks.*count;
  now.measured_samples = now.last_samples;
  now.measured_loads = now.last_loads;
  return now;
}

RunTotals together(RunTotals first, const RunTotals& second) {
  RunTotals all = second;
  for (std::size_t i = 0; i < std::min(all.steps.size(), first.steps.size()); ++i) add(all.steps[i], first.steps[i]);
  add(all.loads, first.loads);
  for (const Count count : counts) all.*count += first.*count;
  for (std::size_t why = 0; why < IdleTime::reasons; ++why) all.idle.idle_ns[why] += first.idle.idle_ns[why];
  all.idle.all_ns += first.idle.all_ns;
  for (std::size_t kind = 0; kind < wait_kinds; ++kind) all.waits.waits[kind] += first.waits.waits[kind];
  all.waits.looks += first.waits.looks;
  for (const BlockCount count : block_counts) all.blocks.*count += first.blocks.*count;
  all.blocks.peak_bytes = std::max(all.blocks.peak_bytes, first.blocks.peak_bytes);
  constexpr std::size_t most_measured = 1 << 14;
  for (const auto measured :
       {&RunTotals::measured_samples, &RunTotals::measured_loads, &RunTotals::last_samples, &RunTotals::last_loads}) {
    std::ranges::move(first.*measured, std::back_inserter(all.*measured));
    if ((all.*measured).size() > most_measured) (all.*measured).resize(most_measured);
  }
  all.threads_seen = std::max(all.threads_seen, first.threads_seen);
  all.scratch_bytes = std::max(all.scratch_bytes, first.scratch_bytes);
  all.shared_record_bytes = std::max(all.shared_record_bytes, first.shared_record_bytes);
  return all;
}

}  // namespace penstock::detail
