// SPDX-License-Identifier: Apache-2.0
#include "engine/chain_runs.hpp"

#include <algorithm>
#include <utility>

namespace penstock::detail::runtime {

namespace {

void add_measured(const MeasuredSamples* measured, MeasuredTimes& times) {
  if (measured == nullptr) return;
  measured->for_each([&](const MeasuredSample& sample) { times.run.push_back(sample); });
  measured->for_each_last([&](const MeasuredSample& sample) { times.last.push_back(sample); });
}

void add_chains(RunTotals& t, ChainCounts& of, const ChainCounters& counters) {
  of.all += counters.samples.get();
  of.measured_for += counters.stood_for.get();
  t.copied_bytes += counters.copied_bytes.get();
  t.wall_ns += counters.wall_ns.get();
}

void add_costs(StepCounts& to, const StepCounters& counters) {
  to.cpu_ns += counters.cpu_ns.get();
  to.bytes += counters.bytes.get();
  to.wait_ns += counters.wait_ns.get();
}

}  // namespace

ChainRuns::ChainRuns(PoolWork& work, std::size_t most) : work_(work) {
  all_.reserve(most);
  idle_.reserve(most);
}

// `RunnerPool::running_` must already count the caller, because the mutex is released while a reader is opened. If a
// reader can't be opened, there will be fewer runners. If no reader at all can be opened, the run ends.
ChainRun* ChainRuns::lease(Lock& lock) noexcept {
  if (!idle_.empty()) {
    ChainRun* run = idle_.back();
    idle_.pop_back();
    return run;
  }
  if (no_more_) return nullptr;
  ++opening_;
  lock.unlock();
  std::unique_ptr<ChainRun> run;
  std::optional<Error> error;
  try {
    run = work_.open_run();
  } catch (...) {
    error = described_error("read");
  }
  lock.lock();
  --opening_;
  if (run != nullptr) {
    all_.push_back(std::move(run));
    return all_.back().get();
  }
  no_more_ = true;
  error_.emplace(error ? std::move(*error) : std::move(spare_));
  failed_ = all_.empty() && opening_ == 0;
  return nullptr;
}

void ChainRuns::forget_failures() {
  failed_ = no_more_ = false;
  error_.reset();
  if (spare_.cause().empty()) spare_ = no_memory();
}

std::vector<std::unique_ptr<ChainRun>> ChainRuns::take() noexcept {
  idle_.clear();
  return std::exchange(all_, {});
}

std::uint64_t ChainRuns::samples() const noexcept {
  std::uint64_t samples = 0;
  for (const auto& run : all_) samples += run->counters.totals.samples.get();
  return samples;
}

std::size_t ChainRuns::threads_in_work(std::span<int> out) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < all_.size() && count < out.size(); ++i)
    if (const ChainRun& run = *all_[++looked_at_ % all_.size()]; run.runner.thread != 0)
      out[count++] = run.runner.thread;
  return count;
}

void ChainRuns::add_to(RunTotals& t) const {
  for (const auto& run : all_) {
    std::size_t number = 0;
    run->for_each_counter([&](const StepCounters& counters, std::uint64_t runs) {
      if (number == t.steps.size()) return;
      StepTotals& step = t.steps[number++];
      add_costs(step, counters);
      step.runs += runs;
      step.remarked += counters.remarks.count();
      if (counters.remarks.count() != 0) step.remark = counters.remarks.text();
    });
    add_costs(t.loads, run->counters.loads);
    add_chains(t, t.samples, run->counters.totals);
    add_chains(t, t.parents, run->counters.parents);
    add_chains(t, t.reads, run->counters.reads);
    t.made += run->counters.totals.made.get() + run->counters.parents.made.get();
    t.measured += run->counters.totals.measured.get();
    add_measured(run->counters.measured_samples.get(), t.sample_times);
    add_measured(run->counters.measured_loads.get(), t.load_times);
    t.delay_ns += run->runner.delay.delay_ns();
    t.delay_measured_ns += run->runner.delay.measured_ns();
    MemoryTotals& memory = t.memory;
    memory.shared_record_bytes = std::max<std::size_t>(
        memory.shared_record_bytes,
        std::max(run->counters.parents.scratch_bytes.get(), run->counters.reads.scratch_bytes.get()));
    memory.scratch_bytes = std::max<std::size_t>(memory.scratch_bytes, run->counters.totals.scratch_bytes.get());
  }
  t.readers = all_.size();
  if (error_) t.reader_error = error_->what();
}

}  // namespace penstock::detail::runtime
