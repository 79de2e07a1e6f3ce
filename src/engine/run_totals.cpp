#include "engine/run_totals.hpp"

#include <algorithm>

namespace penstock::detail {

namespace {

void take_off(RunTotals::StepTotals& from, const RunTotals::StepTotals& before) {
  from.cpu_ns -= before.cpu_ns;
  from.bytes -= before.bytes;
  from.wait_ns -= before.wait_ns;
}

}  // namespace

RunTotals since(RunTotals now, const RunTotals& before) {
  for (std::size_t i = 0; i < std::min(now.steps.size(), before.steps.size()); ++i)
    take_off(now.steps[i], before.steps[i]);
  take_off(now.loads, before.loads);
  using Count = std::uint64_t RunTotals::*;
  for (const Count count :
       {&RunTotals::samples, &RunTotals::copied_bytes, &RunTotals::busy_ns, &RunTotals::helped, &RunTotals::joined,
        &RunTotals::recalled, &RunTotals::measured, &RunTotals::stood_for, &RunTotals::wall_ns, &RunTotals::parents,
        &RunTotals::parents_stood_for, &RunTotals::reads, &RunTotals::reads_stood_for, &RunTotals::delay_ns,
        &RunTotals::delay_measured_ns, &RunTotals::kept})
    now.*count -= before.*count;
  for (std::size_t why = 0; why < IdleTime::reasons; ++why) now.idle.idle_ns[why] -= before.idle.idle_ns[why];
  now.idle.all_ns -= before.idle.all_ns;
  for (std::size_t kind = 0; kind < wait_kinds; ++kind) now.waits.waits[kind] -= before.waits.waits[kind];
  now.waits.looks -= before.waits.looks;
  now.blocks.loads -= before.blocks.loads;
  now.blocks.uses -= before.blocks.uses;
  now.blocks.again -= before.blocks.again;
  now.blocks.saved_by_double -= before.blocks.saved_by_double;
  return now;
}

}  // namespace penstock::detail
