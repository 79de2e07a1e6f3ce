// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <penstock/error.hpp>

#include "base/clock.hpp"
#include "base/counters.hpp"
#include "base/executor_impl.hpp"
#include "chain/chain.hpp"
#include "engine/chain_runs.hpp"
#include "engine/monitor.hpp"
#include "engine/pool_work.hpp"
#include "engine/run_totals.hpp"
#include "engine/sample_duration.hpp"
#include "engine/wait_probe.hpp"

namespace penstock::detail::runtime {

/// A runner's turn on its thread: how long it stays if other tasks wait for one.
class Turn {
 public:
  explicit Turn(const Executor::Impl& executor) noexcept : executor_(executor), begun_ns_(now_ns()) {}
  /// Returns whether other tasks wait and this runner has had its turn.
  bool over() const noexcept { return executor_.waiting() != 0 && now_ns() - begun_ns_ > turn_ns; }

 private:
  static constexpr std::uint64_t turn_ns = std::chrono::nanoseconds(Executor::Impl::turn).count();
  const Executor::Impl& executor_;
  std::uint64_t begun_ns_;
};

/// The runners of one run: tasks of an executor that come when there is work and leave when there is none. Each has its
/// own ChainRun, which it passes on to the next runner.
///
/// Call everything under the monitor's mutex, except `close_door` and the functions marked for the consumer or any
/// thread.
class RunnerPool {
 public:
  using Lock = Monitor::Lock;

  /// `executor`, `monitor` and `work` must live until no runner works after `close_door`. Samples are short if they
  /// take less than `short_time` on average. `most`: most runners later; at least `threads`.
  RunnerPool(PoolWork& work, Monitor& monitor, Executor::Impl& executor, unsigned threads, unsigned most,
             std::chrono::nanoseconds short_time = std::chrono::microseconds(5));

  /// Sets the number of runners, at most the constructor's `most`. Runners beyond it leave soon.
  void set_threads(Lock& lock, unsigned threads) noexcept;
  /// Returns the limit of runners. Any thread.
  unsigned threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
  /// Starts runners up to the limit.
  void wake(Lock& lock) noexcept;
  /// Returns whether samples wait for nothing and are so short that falling asleep and waking up costs as much as a
  /// batch of them. There are no more runners than cores then. Any thread.
  bool short_samples() const noexcept { return duration_.is_short(); }
  /// Returns the number of shares into which runners divide the work. If samples are short, each runner takes its whole
  /// share: whole batches if possible, so that no other thread writes their rows. Any thread.
  unsigned shares() const noexcept { return short_samples() ? std::min(threads(), cores_) : 2 * threads(); }
  /// Returns whether a core is left for the consumer. Any thread.
  bool leaves_a_core() const noexcept { return threads() < cores_; }
  /// Returns a run with which the consumer works as a runner while it waits for a batch; null: it should sleep or spin
  /// instead. The consumer works too if samples are short and no core is left for it; then there are only as many
  /// runners as leave it a core. `busy`: it does other things between its batches, so runners get all cores. Call
  /// without the mutex; only the consumer.
  ChainRun* join(std::uint64_t now, bool busy) noexcept {
    return consumer_.run != nullptr && !busy && short_samples() && !duration_.is_due(now) ? consumer_.run
                                                                                          : join_anew(busy);
  }
  /// Gives up what runners need, before the consumer sleeps.
  void leave_if_long(Lock& lock) noexcept;
  /// Counts samples that the consumer made with that run, and their time. Only the consumer.
  void count_joined(std::uint64_t samples, std::uint64_t ns) noexcept {
    consumer_.joined.add(samples);
    consumer_.busy_ns.add(ns);
  }
  /// Notes that samples that were taken together as short took long. `waited`: they waited for something. Call without
  /// the mutex; any thread that makes samples.
  void note_long(bool waited) noexcept;
  /// Returns whether there are more runners than the limit; a runner that sees it leaves. Any thread.
  bool crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }
  /// Waits until something changes. If all runners are running, it waits at most `longest`, if that is set. If threads
  /// are scarce, this thread works too until `ready`. That happens with an application's own limit, with a busy shared
  /// executor, and if the only worker waits here itself.
  template <class Ready>
  void sleep_or_help(Lock& lock, const Ready& ready, std::optional<std::chrono::nanoseconds> longest = {}) {
    using namespace std::chrono_literals;
    if (running_ >= max_runners()) {  // a runner that leaves wakes it as well
      const auto until_look = looks_.until_due(now_ns());
      if (monitor_.changed.wait_for(lock, std::min(longest.value_or(until_look), until_look)) ==
          std::cv_status::timeout)
        look_at_waits(lock, now_ns());
      return;
    }
    if (monitor_.changed.wait_for(lock, 1ms) != std::cv_status::timeout) return;
    look_at_waits(lock, now_ns());
    if (running_ >= max_runners() || !work_.has_work()) return;
    do {
      help(lock);  // while no runner comes at all, without waiting in between
    } while (!ready() && !monitor_.is_paused() && !runs_.failed() && running_ == 0 && work_.has_work());
  }

  /// Returns the limit of runners. `idle_runners` is how many of them are not working.
  std::size_t most() const noexcept { return max_runners(); }
  std::size_t idle_runners() const noexcept { return max_runners() - std::min<std::size_t>(running_, max_runners()); }
  /// Returns whether no runner is working.
  bool idle() const noexcept { return running_ == 0; }
  /// Returns whether no reader could be opened; `reader_error` is the reason.
  bool failed() const noexcept { return runs_.failed(); }
  const std::optional<Error>& reader_error() const noexcept { return runs_.error(); }
  /// Allows readers to be opened again. Call while idle.
  void forget_failures() { runs_.forget_failures(); }

  /// Lets no further task in; a task that is already in counts as running. Call without the mutex.
  void close_door() noexcept;
  /// Removes the runs of the runners permanently. Call while idle. They hold a user's readers, which must be destroyed
  /// without the mutex.
  std::vector<std::unique_ptr<ChainRun>> take_runs() noexcept;

  /// Samples what busy runners wait for, at moments that they don't choose. Releases the mutex until it returns. Only
  /// the consumer.
  void look_at_waits(Lock& lock, std::uint64_t now) noexcept;

  void add_to(RunTotals& totals) const;

 private:
  /// The way in for tasks. They hold the door instead of the pool, so that no task keeps the pool, or its arguments,
  /// alive after `close_door`.
  struct Door {
    std::mutex mutex;
    RunnerPool* pool;
  };

  bool submit_runner() noexcept;
  std::size_t max_runners() const noexcept;
  void count_runners() noexcept;
  void look_at_samples() noexcept;
  void stop_joining() noexcept;
  ChainRun* join_anew(bool busy) noexcept;
  void begin_work() noexcept;
  void end_work() noexcept;
  void run(Lock& lock) noexcept;
  void help(Lock& lock) noexcept;

  /// The consumer's share of the runners' work while it waits.
  struct Consumer {
    bool joins = false;              ///< it is one of the runners
    ChainRun* run = nullptr;         ///< its run, once it has one; only the consumer changes this
    RelaxedCounter joined, busy_ns;  ///< samples that it made as a runner, and their time
    std::uint64_t helped = 0;
  };

  PoolWork& work_;
  Monitor& monitor_;
  Executor::Impl& executor_;
  std::shared_ptr<Door> door_;
  const unsigned most_threads_;
  std::atomic<unsigned> threads_;  ///< changed under the mutex
  const unsigned cores_;
  std::atomic<bool> crowded_{false};
  SampleDuration duration_;
  ChainRuns runs_;
  WaitProbe looks_;
  Consumer consumer_;
  unsigned scheduled_ = 0;              ///< tasks that wait for a thread, or are running
  unsigned running_ = 0, runners_ = 0;  ///< running: runners, including those without a reader so far, and the
                                        ///< consumer's help
  unsigned threads_seen_ = 0;           ///< the most runners at one time
  std::uint64_t busy_ns_ = 0;           ///< minus the start time of each running runner (wraps)
};

}  // namespace penstock::detail::runtime
