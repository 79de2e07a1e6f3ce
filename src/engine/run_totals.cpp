// SPDX-License-Identifier: Apache-2.0
#include "engine/run_totals.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/counts.hpp"

namespace penstock::detail::runtime {

namespace {

void add_step(StepTotals& to, const StepTotals& more) {
  add_counts<StepCounts>(to, more);
  to.remarked += more.remarked;
  if (more.remark != nullptr) to.remark = more.remark;
}

void add_times(std::vector<MeasuredSample>& to, std::vector<MeasuredSample>& more) {
  constexpr std::size_t most = 1 << 14;
  std::ranges::move(more, std::back_inserter(to));
  if (to.size() > most) to.resize(most);
}

}  // namespace

RunTotals since(RunTotals now, const RunTotals& before) {
  subtract_counts<RunCounts>(now, before);
  for (std::size_t i = 0; i < std::min(now.steps.size(), before.steps.size()); ++i)
    subtract_counts<StepCounts>(now.steps[i], before.steps[i]);
  for (std::size_t i = 0; i < std::min(now.batch_stages.size(), before.batch_stages.size()); ++i)
    subtract_counts(now.batch_stages[i], before.batch_stages[i]);
  const std::size_t peak_bytes = now.blocks.peak_bytes, taken_bytes = now.blocks.taken_bytes;
  subtract_counts(now.blocks, before.blocks);
  now.blocks.peak_bytes = peak_bytes;
  now.blocks.taken_bytes = taken_bytes;
  now.sample_times.run = now.sample_times.last;
  now.load_times.run = now.load_times.last;
  return now;
}

RunTotals together(RunTotals first, const RunTotals& second) {
  RunTotals all = second;
  add_counts<RunCounts>(all, first);
  for (std::size_t i = 0; i < std::min(all.steps.size(), first.steps.size()); ++i)
    add_step(all.steps[i], first.steps[i]);
  for (std::size_t i = 0; i < std::min(all.batch_stages.size(), first.batch_stages.size()); ++i)
    add_counts(all.batch_stages[i], first.batch_stages[i]);
  add_counts(all.blocks, first.blocks);
  all.blocks.peak_bytes = std::max(first.blocks.peak_bytes, second.blocks.peak_bytes);
  all.blocks.taken_bytes = second.blocks.taken_bytes;
  for (const auto times : {&RunTotals::sample_times, &RunTotals::load_times}) {
    add_times((all.*times).run, (first.*times).run);
    add_times((all.*times).last, (first.*times).last);
  }
  all.threads_seen = std::max(all.threads_seen, first.threads_seen);
  all.memory.scratch_bytes = std::max(all.memory.scratch_bytes, first.memory.scratch_bytes);
  all.memory.shared_record_bytes = std::max(all.memory.shared_record_bytes, first.memory.shared_record_bytes);
  return all;
}

}  // namespace penstock::detail::runtime
