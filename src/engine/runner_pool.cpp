// SPDX-License-Identifier: Apache-2.0
#include "engine/runner_pool.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <penstock/extend/float_mode.hpp>

#include "base/cores.hpp"
#include "engine/thread_wait.hpp"

namespace penstock::detail::runtime {

RunnerPool::RunnerPool(PoolWork& work, Monitor& monitor, Executor::Impl& executor, unsigned threads, unsigned most,
                       std::chrono::nanoseconds short_time)
    : work_(work),
      monitor_(monitor),
      executor_(executor),
      link_(std::make_shared<PoolLink>()),
      most_threads_(std::max(threads, most)),
      threads_(threads),
      cores_(usable_cores()),
      duration_(short_time, cores_),
      runs_(work, most_threads_ + std::size_t{1}) {  // one more, because the consumer's thread may help
  link_->pool = this;
}

void RunnerPool::set_threads(Lock& lock, unsigned threads) noexcept {
  threads_.store(std::clamp(threads, 1u, most_threads_), std::memory_order_relaxed);
  count_runners();
  if (!monitor_.closed && !monitor_.is_paused() && work_.has_work()) wake(lock);
}

void RunnerPool::wake(Lock&) noexcept {
  while (scheduled_ < max_runners() && submit_runner()) ++scheduled_;
}

// Returns how many runners may work, not counting the consumer. If opening readers failed, only runners with a reader
// may work. If samples are short, runners without a core of their own would only hinder the others.
std::size_t RunnerPool::max_runners() const noexcept {
  std::size_t most = threads();
  if (runs_.are_all()) most = std::min(most, std::max<std::size_t>(runs_.count(), 1));
  if (consumer_.run != nullptr && most > 1) --most;
  if (short_samples()) most = std::min<std::size_t>(most, std::max(cores_ - (consumer_.joins ? 1u : 0u), 1u));
  return most;
}

void RunnerPool::count_runners() noexcept {
  threads_seen_ = std::max(threads_seen_, runners_ + (consumer_.run != nullptr ? 1u : 0u));
  crowded_.store(runners_ > max_runners(), std::memory_order_relaxed);
}

// Reads `now` under the mutex, so that it is after all times in `busy_ns_`.
void RunnerPool::look_at_samples() noexcept {
  const std::uint64_t now = now_ns();
  duration_.look(now, busy_ns_ + running_ * now + consumer_.busy_ns.get(), runs_.samples(),
                 running_ + (consumer_.run != nullptr ? 1u : 0u));
}

// Submits the task of a runner. Returns false if there is no memory for the task. The run may end before the task gets
// a thread. If so, the task finds the link cut. Otherwise, the task locks the monitor's mutex before it unlocks the
// link. It holds the monitor's mutex until it counts as running.
bool RunnerPool::submit_runner() noexcept {
  try {
    executor_.submit([link = link_] {
      std::unique_lock at_link(link->mutex);
      if (link->pool == nullptr) return;
      RunnerPool& pool = *link->pool;
      Lock lock(pool.monitor_.mutex);
      at_link.unlock();
      pool.run(lock);
    });
  } catch (...) {
    return false;
  }
  return true;
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

// The whole task of a runner.
void RunnerPool::run(Lock& lock) noexcept {
  if (monitor_.closed || monitor_.is_paused() || runners_ >= max_runners()) {
    --scheduled_;
    return;
  }
  begin_work();
  ChainRun* const run = runs_.lease(lock);
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
    // No work can be missed between this check and the end of the task. Work is issued under this mutex, or by a runner
    // that continues itself and wakes other runners.
    if (monitor_.closed || monitor_.is_paused() || runs_.failed() || runners_ > max_runners() || !work_.has_work())
      break;
    if (gives_way) {
      again = true;
      break;
    }
  }
  --runners_;
  count_runners();
  run->runner.thread = 0;
  runs_.give_back(run);
  if (!again || !submit_runner()) --scheduled_;
  end_work();
}

void RunnerPool::help(Lock& lock) noexcept {
  begin_work();
  if (ChainRun* const run = runs_.lease(lock); run != nullptr) {
    lock.unlock();
    const std::uint64_t before = run->counters.totals.samples.get();
    {
      const FloatMode standard;
      work_.help(*run);
    }
    run->reader->pause();
    lock.lock();
    consumer_.helped += run->counters.totals.samples.get() - before;
    runs_.give_back(run);
    if (work_.has_work()) wake(lock);  // a runner may have found no free ChainRun while this thread used one
  }
  end_work();  // also notifies, because a thread that ends the run may wait until the pool is idle
}

// Decides whether the consumer works as a runner. If no ChainRun is free, opens one only if fewer than `threads()` are
// open. If that many are open, the consumer gets a ChainRun only after a runner has left.
ChainRun* RunnerPool::join_anew(bool busy) noexcept {
  Lock lock(monitor_.mutex);
  look_at_samples();
  if (!short_samples() || busy || leaves_a_core() || cores_ == 1) {
    stop_joining();
  } else {
    consumer_.joins = true;
    if (consumer_.run == nullptr && !runs_.is_one_for_all()) {
      ++running_;
      if (runs_.has_idle() || runs_.count() < threads()) consumer_.run = runs_.lease(lock);
      --running_;
      if (consumer_.run != nullptr) consumer_.run->runner.blocked = times_blocked();
      monitor_.changed.notify_all();
    }
  }
  count_runners();
  if (work_.has_work()) wake(lock);
  return consumer_.run;
}

void RunnerPool::stop_joining() noexcept {
  consumer_.joins = false;
  if (consumer_.run != nullptr) runs_.give_back(std::exchange(consumer_.run, nullptr));
}

void RunnerPool::leave_if_long(Lock& lock) noexcept {
  // Stays joined only while samples are short and runners need all cores.
  if (!consumer_.joins || (short_samples() && !leaves_a_core())) return;
  stop_joining();
  count_runners();
  if (work_.has_work()) wake(lock);
}

void RunnerPool::note_long(bool waited) noexcept {
  if (waited) duration_.note_wait(now_ns());
  if (!short_samples()) return;
  Lock lock(monitor_.mutex);
  look_at_samples();
  count_runners();
  if (!monitor_.closed && !monitor_.is_paused() && work_.has_work()) wake(lock);
}

void RunnerPool::cut_link() noexcept {
  const std::lock_guard at_link(link_->mutex);
  link_->pool = nullptr;
}

std::vector<std::unique_ptr<ChainRun>> RunnerPool::take_runs() noexcept {
  consumer_.joins = false;
  consumer_.run = nullptr;
  return runs_.take();
}

void RunnerPool::look_at_waits(Lock& lock, std::uint64_t now) noexcept {
  std::array<int, 8> threads{};
  std::size_t count = looks_.due(now);
  if (count == 0) return;
  count = runs_.threads_in_work(std::span(threads).first(std::min(count, threads.size())));
  lock.unlock();
  looks_.look_at(std::span(threads).first(count));
  lock.lock();
}

void RunnerPool::add_to(RunTotals& t) const {
  runs_.add_to(t);
  t.waits = looks_.counts();
  t.busy_ns = busy_ns_ + running_ * now_ns() + consumer_.busy_ns.get();
  t.helped = consumer_.helped;
  t.joined = consumer_.joined.get();
  t.threads_seen = threads_seen_;
}

}  // namespace penstock::detail::runtime
