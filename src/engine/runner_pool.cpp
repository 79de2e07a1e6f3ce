#include "engine/runner_pool.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/cores.hpp"
#include "base/float_mode.hpp"
#include "engine/thread_wait.hpp"

namespace penstock::detail {

RunnerPool::RunnerPool(RunnerWork& work, Monitor& monitor, Executor::Impl& executor, unsigned threads, unsigned most,
                       std::chrono::nanoseconds short_time)
    : work_(work),
      monitor_(monitor),
      executor_(executor),
      door_(std::make_shared<Door>()),
      most_threads_(std::max(threads, most)),
      threads_(threads),
      cores_(usable_cores()),
      short_ns_(static_cast<std::uint64_t>(short_time.count())) {
  door_->pool = this;
  runs_.reserve(most_threads_ + std::size_t{1});  // the consumer's thread may help
  idle_runs_.reserve(most_threads_ + std::size_t{1});
}

void RunnerPool::set_threads(Lock& lock, unsigned threads) noexcept {
  threads_.store(std::clamp(threads, 1u, most_threads_), std::memory_order_relaxed);
  count_runners();
  if (!monitor_.closed && !monitor_.is_paused() && work_.has_work()) wake(lock);
}

void RunnerPool::wake(Lock&) noexcept {
  while (scheduled_ < max_runners() && submit_runner()) ++scheduled_;
}

// How many have, or may get, a reader, one of which the consumer may have. Where samples wait for nothing, runners
// without a core of their own are only in the way of the others.
std::size_t RunnerPool::max_runners() const noexcept {
  std::size_t most = threads();
  if (no_more_readers_) most = std::min(most, std::max<std::size_t>(runs_.size() + opening_, 1));
  if (joined_ != nullptr && most > 1) --most;
  if (short_samples()) most = std::min<std::size_t>(most, std::max(cores_ - (joins_ ? 1u : 0u), 1u));
  return most;
}

void RunnerPool::count_runners() noexcept {
  threads_seen_ = std::max(threads_seen_, runners_ + (joined_ != nullptr ? 1u : 0u));
  crowded_.store(runners_ > max_runners(), std::memory_order_relaxed);
}

std::uint64_t RunnerPool::samples() const noexcept {
  std::uint64_t samples = 0;
  for (const auto& run : runs_) samples += run->counters.totals.samples.get();
  return samples;
}

// Over some milliseconds, as a mean: one long sample among thousands of short ones makes all of them long. Long ones
// are believed at once. A runner without a core is no busier for it, so that at most the cores count. `now` is read
// under the mutex, after all times that are in `busy_ns_`.
void RunnerPool::look_at_samples(std::uint64_t now) noexcept {
  constexpr std::uint64_t least = 64, after_a_wait_ns = 200'000'000;
  const std::uint64_t busy = busy_ns_ + running_ * now + joined_ns_.get(), made = samples();
  const std::uint64_t more = made - looked_samples_, at_once = running_ + (joined_ != nullptr ? 1u : 0u);
  const std::uint64_t took = (busy - looked_busy_ns_) * cores_ / std::max<std::uint64_t>(cores_, at_once);
  const std::uint64_t waited = waited_ns_.load(std::memory_order_relaxed);
  const bool waits = waited != 0 && now - std::min(now, waited) < after_a_wait_ns;
  const bool refuted = short_samples() && (waits || took >= short_ns_ * std::max(more, least));
  const bool due = now - looked_ns_.load(std::memory_order_relaxed) >= look_every_ns && more >= least;
  if (!refuted && !due) return;
  short_.store(!refuted && !waits && took < short_ns_ * more, std::memory_order_relaxed);
  looked_ns_.store(now, std::memory_order_relaxed);
  looked_busy_ns_ = busy;
  looked_samples_ = made;
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
    error = described_error("read");
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

void RunnerPool::begin_work() noexcept {
  const std::uint64_t now = now_ns();
  ++running_;
  busy_ns_ -= now;
  work_.runners_changed(now);
}

void RunnerPool::end_work() noexcept {
  const std::uint64_t now = now_ns();
  --running_;
  busy_ns_ += now;
  work_.runners_changed(now);
  monitor_.changed.notify_all();
}

// What a runner does, from its first piece of work to its last.
void RunnerPool::run(Lock& lock) noexcept {
  if (monitor_.closed || monitor_.is_paused() || runners_ >= max_runners()) {
    --scheduled_;
    return;
  }
  begin_work();
  ChainRun* const run = lease_run(lock);
  if (run == nullptr) {
    --scheduled_;
    end_work();
    return;
  }
  ++runners_;
  count_runners();
  run->runner.thread = this_thread_id();
  bool again = false;
  for (;;) {
    lock.unlock();
    run->runner.delay.begin(now_ns());
    const bool gives_way = [&] {
      const FloatMode standard;
      return work_.work(*run);
    }();
    run->runner.delay.end(now_ns());
    run->reader->pause();
    lock.lock();
    // Work is issued under this mutex, or by a runner that goes on itself and then wakes others, so none can be missed
    // between the look and the leave.
    if (monitor_.closed || monitor_.is_paused() || failed_ || runners_ > max_runners() || !work_.has_work()) break;
    if (gives_way) {
      again = true;
      break;
    }
  }
  --runners_;
  count_runners();
  run->runner.thread = 0;
  idle_runs_.push_back(run);
  if (!again || !submit_runner()) --scheduled_;
  end_work();
}

void RunnerPool::help(Lock& lock) noexcept {
  begin_work();
  if (ChainRun* const run = lease_run(lock); run != nullptr) {
    lock.unlock();
    const std::uint64_t before = run->counters.totals.samples.get();
    {
      const FloatMode standard;
      work_.help(*run);
    }
    run->reader->pause();
    lock.lock();
    helped_ += run->counters.totals.samples.get() - before;
    idle_runs_.push_back(run);
    if (work_.has_work()) wake(lock);  // a runner may have found no reader while this one was used
  }
  end_work();  // on a device, the thread that helps is not the one that ends the run
}

// It opens no reader beyond those of as many runners: it waits until one of them has left.
ChainRun* RunnerPool::join_anew(bool busy) noexcept {
  Lock lock(monitor_.mutex);
  look_at_samples(now_ns());
  if (!short_samples() || busy || leaves_a_core() || cores_ == 1) {
    stop_joining();
  } else {
    joins_ = true;
    if (joined_ == nullptr && !(no_more_readers_ && runs_.size() == 1)) {
      ++running_;
      if (!idle_runs_.empty() || runs_.size() + opening_ < threads()) joined_ = lease_run(lock);
      --running_;
      if (joined_ != nullptr) joined_->runner.blocked = times_blocked();
      monitor_.changed.notify_all();
    }
  }
  count_runners();
  if (work_.has_work()) wake(lock);
  return joined_;
}

void RunnerPool::stop_joining() noexcept {
  joins_ = false;
  if (joined_ != nullptr) idle_runs_.push_back(std::exchange(joined_, nullptr));
}

void RunnerPool::leave_if_long(Lock& lock) noexcept {
  // Where cores became free of runners nobody joins any more.
  if (!joins_ || (short_samples() && !leaves_a_core())) return;
  stop_joining();
  count_runners();
  if (work_.has_work()) wake(lock);
}

void RunnerPool::note_long(bool waited) noexcept {
  if (waited) waited_ns_.store(now_ns(), std::memory_order_relaxed);
  if (!short_samples()) return;
  Lock lock(monitor_.mutex);
  look_at_samples(now_ns());
  count_runners();
  if (!monitor_.closed && !monitor_.is_paused() && work_.has_work()) wake(lock);
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
  joins_ = false;
  joined_ = nullptr;
  return std::exchange(runs_, {});
}

void RunnerPool::look_at_waits(Lock& lock, std::uint64_t now) noexcept {
  std::array<int, 8> threads{};
  std::size_t count = looks_.due(now);
  if (count == 0) return;
  count = threads_in_work(std::span(threads).first(std::min(count, threads.size())));
  lock.unlock();
  looks_.look_at(std::span(threads).first(count));
  lock.lock();
}

// At most as many as there is room for, each in its turn.
std::size_t RunnerPool::threads_in_work(std::span<int> out) noexcept {
  std::size_t count = 0;
  for (std::size_t i = 0; i < runs_.size() && count < out.size(); ++i)
    if (const ChainRun& run = *runs_[++looked_at_ % runs_.size()]; run.runner.thread != 0)
      out[count++] = run.runner.thread;
  return count;
}

namespace {
void add_measured(const MeasuredSamples& measured, std::vector<MeasuredSample>& run,
                  std::vector<MeasuredSample>& last) {
  measured.for_each([&](const MeasuredSample& sample) { run.push_back(sample); });
  measured.for_each_last([&](const MeasuredSample& sample) { last.push_back(sample); });
}
}  // namespace

void RunnerPool::add_to(RunTotals& t) const {
  t.waits = looks_.counts();
  for (const auto& run : runs_) {
    const RunCounters& counted = run->counters;
    for (std::size_t i = 0; i < t.steps.size(); ++i) {
      t.steps[i].cpu_ns += counted.steps[i].cpu_ns.get();
      t.steps[i].bytes += counted.steps[i].bytes.get();
      t.steps[i].wait_ns += counted.steps[i].wait_ns.get();
      const Remarks& remarks = counted.steps[i].remarks;
      t.steps[i].remarked += remarks.count();
      if (remarks.count() != 0) t.steps[i].remark = remarks.text();
    }
    t.loads.cpu_ns += counted.loads.cpu_ns.get();
    t.loads.bytes += counted.loads.bytes.get();
    t.loads.wait_ns += counted.loads.wait_ns.get();
    t.samples += counted.totals.samples.get();
    t.made += counted.totals.made.get() + counted.parents.made.get();
    t.measured += counted.totals.measured.get();
    if (counted.measured_samples != nullptr)
      add_measured(*counted.measured_samples, t.measured_samples, t.last_samples);
    if (counted.measured_loads != nullptr) add_measured(*counted.measured_loads, t.measured_loads, t.last_loads);
    t.delay_ns += run->runner.delay.delay_ns();
    t.delay_measured_ns += run->runner.delay.measured_ns();
    t.stood_for += counted.totals.stood_for.get();
    t.copied_bytes +=
        counted.totals.copied_bytes.get() + counted.parents.copied_bytes.get() + counted.reads.copied_bytes.get();
    t.wall_ns += counted.totals.wall_ns.get() + counted.parents.wall_ns.get() + counted.reads.wall_ns.get();
    t.parents += counted.parents.samples.get();
    t.parents_stood_for += counted.parents.stood_for.get();
    t.reads += counted.reads.samples.get();
    t.reads_stood_for += counted.reads.stood_for.get();
    t.shared_record_bytes = std::max<std::size_t>(
        t.shared_record_bytes, std::max(counted.parents.scratch_bytes.get(), counted.reads.scratch_bytes.get()));
    t.scratch_bytes = std::max<std::size_t>(t.scratch_bytes, counted.totals.scratch_bytes.get());
  }
  t.busy_ns = busy_ns_ + running_ * now_ns() + joined_ns_.get();
  t.helped = helped_;
  t.joined = joined_samples_.get();
  t.threads_seen = threads_seen_;
  t.readers = runs_.size();
  if (reader_error_) t.reader_error = reader_error_->what();
}

}  // namespace penstock::detail
