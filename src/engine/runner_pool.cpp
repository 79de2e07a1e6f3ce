#include "engine/runner_pool.hpp"

#include <algorithm>
#include <utility>

namespace penstock::detail {

RunnerPool::RunnerPool(RunnerWork& work, const SourceModel& source, Monitor& monitor, Executor::Impl& executor,
                       unsigned threads)
    : work_(work),
      source_(source),
      monitor_(monitor),
      executor_(executor),
      door_(std::make_shared<Door>()),
      threads_(threads) {
  door_->pool = this;
  runs_.reserve(threads + std::size_t{1});  // the consumer's thread may help
  idle_runs_.reserve(threads + std::size_t{1});
}

void RunnerPool::wake(Lock&) noexcept {
  while (scheduled_ < max_runners() && submit_runner()) ++scheduled_;
}

// As many as have, or may get, a reader.
std::size_t RunnerPool::max_runners() const noexcept {
  return no_more_readers_ ? std::max<std::size_t>(runs_.size() + opening_, 1) : threads_;
}

// A run can end while its tasks still wait for a thread: they find the door closed. A task that is through it holds the
// mutex until it counts as running. False where there is no memory for a task: the consumer does the work then.
bool RunnerPool::submit_runner() noexcept {
  try {
    executor_.submit([door = door_] {
      std::unique_lock at_door(door->mutex);
      if (door->pool == nullptr) return;
      RunnerPool& pool = *door->pool;
      Lock lock(pool.monitor_.mutex);
      at_door.unlock();
      pool.run(lock);
    });
  } catch (...) {
    return false;
  }
  return true;
}

// The mutex is let go while a reader is opened, and the caller counts as running by then. One that can't be opened is
// one runner fewer; the first of all ends the run.
ChainRun* RunnerPool::lease_run(Lock& lock) noexcept {
  if (!idle_runs_.empty()) {
    ChainRun* run = idle_runs_.back();
    idle_runs_.pop_back();
    return run;
  }
  if (no_more_readers_) return nullptr;
  ++opening_;
  lock.unlock();
  std::unique_ptr<ChainRun> run;
  std::optional<Error> error;
  try {
    run = work_.open_run();
  } catch (...) {
    error = described_error("read", &source_);
  }
  lock.lock();
  --opening_;
  if (run != nullptr) {
    runs_.push_back(std::move(run));
    return runs_.back().get();
  }
  no_more_readers_ = true;
  reader_error_.emplace(error ? std::move(*error) : std::move(spare_));
  failed_ = runs_.empty() && opening_ == 0;
  return nullptr;
}

// What a runner does, from its first piece of work to its last.
void RunnerPool::run(Lock& lock) noexcept {
  if (monitor_.closed || monitor_.is_paused()) {
    --scheduled_;
    return;
  }
  ++running_;
  busy_ns_ -= now_ns();
  ChainRun* const run = lease_run(lock);
  if (run == nullptr) {
    --running_;
    --scheduled_;
    busy_ns_ += now_ns();
    monitor_.changed.notify_all();
    return;
  }
  threads_seen_ = std::max(threads_seen_, ++runners_);
  bool again = false;
  for (;;) {
    lock.unlock();
    run->delay.begin(now_ns());
    const bool gives_way = work_.work(*run);
    run->delay.end(now_ns());
    run->reader->pause();
    lock.lock();
    // Work is issued under this mutex, or by a runner that goes on itself and then wakes others, so none can be missed
    // between the look and the leave.
    if (monitor_.closed || monitor_.is_paused() || failed_ || !work_.has_work()) break;
    if (gives_way) {
      again = true;
      break;
    }
  }
  --runners_;
  --running_;
  busy_ns_ += now_ns();
  idle_runs_.push_back(run);
  if (!again || !submit_runner()) --scheduled_;
  monitor_.changed.notify_all();
}

void RunnerPool::help(Lock& lock) noexcept {
  ++running_;
  busy_ns_ -= now_ns();
  if (ChainRun* const run = lease_run(lock); run != nullptr) {
    lock.unlock();
    const std::uint64_t before = run->totals.samples.get();
    work_.help(*run);
    run->reader->pause();
    lock.lock();
    helped_ += run->totals.samples.get() - before;
    idle_runs_.push_back(run);
    if (work_.has_work()) wake(lock);  // a runner may have found no reader while this one was used
  }
  --running_;
  busy_ns_ += now_ns();
  monitor_.changed.notify_all();  // on a device, the thread that helps is not the one that ends the run
}

void RunnerPool::forget_failures() {
  failed_ = false;
  no_more_readers_ = false;
  reader_error_.reset();
  if (spare_.cause().empty()) spare_ = no_memory();
}

void RunnerPool::close_door() noexcept {
  const std::lock_guard at_door(door_->mutex);
  door_->pool = nullptr;
}

std::vector<std::unique_ptr<ChainRun>> RunnerPool::take_runs() noexcept {
  idle_runs_.clear();
  return std::exchange(runs_, {});
}

void RunnerPool::add_to(RunTotals& t) const {
  for (const auto& run : runs_) {
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
      t.steps[i].cpu_ns += run->counters[i].cpu_ns.get();
      t.steps[i].bytes += run->counters[i].bytes.get();
      t.steps[i].wait_ns += run->counters[i].wait_ns.get();
      const Remarks& remarks = run->counters[i].remarks;
      t.steps[i].remarked += remarks.count();
      if (remarks.count() != 0) t.steps[i].remark = remarks.text();
    }
    t.samples += run->totals.samples.get();
    t.recalled += run->totals.recalled.get() + run->parents.recalled.get();
    t.measured += run->totals.measured.get();
    t.delay_ns += run->delay.delay_ns();
    t.delay_measured_ns += run->delay.measured_ns();
    t.stood_for += run->totals.stood_for.get();
    t.copied_bytes += run->totals.copied_bytes.get() + run->parents.copied_bytes.get() + run->reads.copied_bytes.get();
    t.wall_ns += run->totals.wall_ns.get() + run->parents.wall_ns.get() + run->reads.wall_ns.get();
    t.parents += run->parents.samples.get();
    t.parents_stood_for += run->parents.stood_for.get();
    t.reads += run->reads.samples.get();
    t.reads_stood_for += run->reads.stood_for.get();
    t.shared_record_bytes = std::max<std::size_t>(
        t.shared_record_bytes, std::max(run->parents.scratch_bytes.get(), run->reads.scratch_bytes.get()));
    t.scratch_bytes = std::max<std::size_t>(t.scratch_bytes, run->totals.scratch_bytes.get());
  }
  t.busy_ns = busy_ns_ + running_ * now_ns();
  t.helped = helped_;
  t.threads_seen = threads_seen_;
  t.readers = runs_.size();
  if (reader_error_) t.reader_error = reader_error_->what();
}

}  // namespace penstock::detail
