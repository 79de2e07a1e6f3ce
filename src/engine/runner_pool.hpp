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

/// A runner's turn: how long the runner keeps its thread while other tasks wait for a thread.
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

/// The runners of one run: tasks of an executor that come when there is work and leave when there is no work. Each
/// runner takes a ChainRun, and leaves it to a later runner.
///
/// Call all functions under the monitor's mutex, except functions whose comments say "any thread" or "without the
/// mutex".
class RunnerPool {
 public:
  using Lock = Monitor::Lock;

  /// `executor`, `monitor` and `work` must live until `cut_link` was called and no runner works. `threads`: number of
  /// runners at first. `most`: the largest number that `set_threads` may set; a number below `threads` means `threads`.
  /// Samples are short if they take less than `short_time` on average.
  RunnerPool(PoolWork& work, Monitor& monitor, Executor::Impl& executor, unsigned threads, unsigned most,
             std::chrono::nanoseconds short_time = std::chrono::microseconds(5));

  /// Sets the number of runners, limited to the range from 1 to the constructor's `most`. If more runners work, the
  /// surplus runners leave soon.
  void set_threads(Lock& lock, unsigned threads) noexcept;
  /// Returns the number that the constructor or `set_threads` set. Any thread.
  unsigned threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
  /// Starts runners until `max_runners()` of them are scheduled.
  void wake(Lock& lock) noexcept;
  /// Returns whether samples wait for nothing and are short. If so, waking a thread costs as much as making a batch,
  /// and there are at most as many runners as cores. Any thread.
  bool short_samples() const noexcept { return duration_.is_short(); }
  /// Returns the number of shares into which runners divide the tickets that are left. If samples are short, it is one
  /// share per runner, so that a runner takes whole batches if possible and no other thread writes to them. Any thread.
  unsigned shares() const noexcept { return short_samples() ? std::min(threads(), cores_) : 2 * threads(); }
  /// Returns whether there are more cores than `threads()`, so that the consumer has a core. Any thread.
  bool leaves_a_core() const noexcept { return threads() < cores_; }
  /// Returns a ChainRun with which the consumer works as a runner while it waits for a batch; null: the consumer should
  /// not work. The consumer works if samples are short, runners need all cores, and there are several cores. It takes
  /// the place of one runner. `busy`: the consumer does other work between batches, so it does not work as a runner.
  /// Only the consumer calls this, without the mutex.
  ChainRun* join(std::uint64_t now, bool busy) noexcept {
    return consumer_.run != nullptr && !busy && short_samples() && !duration_.is_due(now) ? consumer_.run
                                                                                          : join_anew(busy);
  }
  /// Ends the consumer's work as a runner, unless samples are still short and runners need all cores. The consumer
  /// calls it before it sleeps.
  void leave_if_long(Lock& lock) noexcept;
  /// Counts samples that the consumer made with the ChainRun of `join`, and their time. Only the consumer calls this,
  /// without the mutex.
  void count_joined(std::uint64_t samples, std::uint64_t ns) noexcept {
    consumer_.joined.add(samples);
    consumer_.busy_ns.add(ns);
  }
  /// Notes that samples took long although they were taken together as short samples. `waited`: the runner waited for
  /// something other than a core. Any thread that makes samples may call this, without the mutex.
  void note_long(bool waited) noexcept;
  /// Returns whether more than `max_runners()` runners work. A runner that sees this leaves. Any thread.
  bool crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }
  /// Waits until the monitor's `changed` is notified or a time is over. While all runners are running, the time ends
  /// when `look_at_waits` is due, within 5 ms. Otherwise the time is 1 ms. If runners are still missing after 1 ms and
  /// there is work, this thread does a piece of work. It continues until `ready` returns true, a runner works, no work
  /// is left, or the run is paused or has failed. Runners may not come if an application
  /// limits or uses the executor's threads, or if the executor's only thread waits here.
  template <class Ready>
  void sleep_or_help(Lock& lock, const Ready& ready) {
    using namespace std::chrono_literals;
    if (running_ >= max_runners()) {  // a runner that leaves notifies `changed` too
      if (monitor_.changed.wait_for(lock, looks_.until_due(now_ns())) == std::cv_status::timeout)
        look_at_waits(lock, now_ns());
      return;
    }
    if (monitor_.changed.wait_for(lock, 1ms) != std::cv_status::timeout) return;
    look_at_waits(lock, now_ns());
    if (running_ >= max_runners() || !work_.has_work()) return;
    do {
      help(lock);  // works without waiting in between, as long as no runner comes
    } while (!ready() && !monitor_.is_paused() && !runs_.failed() && running_ == 0 && work_.has_work());
  }

  /// Returns how many runners may work: `threads()`, or fewer if readers are missing, samples are short, or the
  /// consumer is one of the runners. `idle_runners` returns how many of them do not work.
  std::size_t most() const noexcept { return max_runners(); }
  std::size_t idle_runners() const noexcept { return max_runners() - std::min<std::size_t>(running_, max_runners()); }
  /// Returns whether no runner is working or opening a ChainRun, and the consumer is not helping.
  bool idle() const noexcept { return running_ == 0; }
  /// Returns whether no reader could be opened; `reader_error` is the reason.
  bool failed() const noexcept { return runs_.failed(); }
  const std::optional<Error>& reader_error() const noexcept { return runs_.error(); }
  /// Allows readers to be opened again. Call while idle.
  void forget_failures() { runs_.forget_failures(); }

  /// Cuts the link from tasks to the pool. A task that begins later ends without work. A task that began earlier counts
  /// as running. Call without the mutex.
  void cut_link() noexcept;
  /// Removes all ChainRuns permanently. Call while idle. The caller must destroy the ChainRuns without the mutex,
  /// because their readers are a user's code.
  std::vector<std::unique_ptr<ChainRun>> take_runs() noexcept;

  /// Notes what busy runners wait for at this moment, if it is time to do so. Releases the mutex while it looks. Only
  /// the consumer calls this.
  void look_at_waits(Lock& lock, std::uint64_t now) noexcept;

  void add_to(RunTotals& totals) const;

 private:
  /// The way from a task to the pool. Tasks hold the link, because they may begin after the pool was destroyed.
  struct PoolLink {
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

  /// The work that the consumer does for runners while it waits.
  struct Consumer {
    bool joins = false;              ///< the consumer is one of the runners
    ChainRun* run = nullptr;         ///< the consumer's ChainRun; null: it has none. Only the consumer changes this
    RelaxedCounter joined, busy_ns;  ///< samples that the consumer made as a runner, and their time
    std::uint64_t helped = 0;
  };

  PoolWork& work_;
  Monitor& monitor_;
  Executor::Impl& executor_;
  std::shared_ptr<PoolLink> link_;
  const unsigned most_threads_;
  std::atomic<unsigned> threads_;  ///< changed only under the mutex
  const unsigned cores_;
  std::atomic<bool> crowded_{false};
  SampleDuration duration_;
  ChainRuns runs_;
  WaitProbe looks_;
  Consumer consumer_;
  unsigned scheduled_ = 0;              ///< tasks that wait for a thread or are running
  unsigned running_ = 0, runners_ = 0;  ///< `runners_`: tasks that have a ChainRun. `running_`: these tasks, tasks that
                                        ///< still open one, and the consumer while it helps or opens one
  unsigned threads_seen_ = 0;           ///< the most runners at one time, including the consumer as a runner
  std::uint64_t busy_ns_ = 0;           ///< summed busy time, minus the start time of each runner that works (wraps)
};

}  // namespace penstock::detail::runtime
