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

/// A runner's turn on its thread: how long it goes on while others wait for one.
class Turn {
 public:
  explicit Turn(const Executor::Impl& executor) noexcept : executor_(executor), begun_ns_(now_ns()) {}
  /// Others wait, and this runner has had its turn.
  bool over() const noexcept { return executor_.waiting() != 0 && now_ns() - begun_ns_ > turn_ns; }

 private:
  static constexpr std::uint64_t turn_ns = std::chrono::nanoseconds(Executor::Impl::turn).count();
  const Executor::Impl& executor_;
  std::uint64_t begun_ns_;
};

/// The runners of one run: tasks of an executor that come when there is work and leave when there is none, each with a
/// ChainRun of its own, which the next one goes on with.
///
/// All under the monitor's mutex, but for `close_door` and what the consumer or any thread may call.
class RunnerPool {
 public:
  using Lock = Monitor::Lock;

  /// `executor`, `monitor` and `work` must live until no runner is in work after `close_door`. Samples are short that
  /// take less than `short_time`, as a mean. `most`: runners that there may be later; no fewer than `threads`.
  RunnerPool(PoolWork& work, Monitor& monitor, Executor::Impl& executor, unsigned threads, unsigned most,
             std::chrono::nanoseconds short_time = std::chrono::microseconds(5));

  /// So many runners from now on, at most as many as there may be later. Those that are too many leave soon.
  void set_threads(Lock& lock, unsigned threads) noexcept;
  /// How many runners that is. Any thread.
  unsigned threads() const noexcept { return threads_.load(std::memory_order_relaxed); }
  /// Has as many runners come as there may be.
  void wake(Lock& lock) noexcept;
  /// Samples are so short that to fall asleep and be woken costs as much as a batch of them, and wait for nothing.
  /// There are no more runners than cores then. Any thread.
  bool short_samples() const noexcept { return duration_.is_short(); }
  /// How many shares runners make of what there is to do. Where samples are short, each takes all of its own: whole
  /// batches, if it can, of which no other thread writes a row. Any thread.
  unsigned shares() const noexcept { return short_samples() ? std::min(threads(), cores_) : 2 * threads(); }
  /// There is a core for the consumer besides the runners'. Any thread.
  bool leaves_a_core() const noexcept { return threads() < cores_; }
  /// The consumer has to wait for a batch: what it works with meanwhile, as one of the runners; null: it should rather
  /// sleep or spin. It works along where samples are short, and no core is left for it. There are then as many runners
  /// as leave it one. `busy`: it does other things between its batches, so runners get all cores. Not under the mutex;
  /// the consumer's.
  ChainRun* join(std::uint64_t now, bool busy) noexcept {
    return consumer_.run != nullptr && !busy && short_samples() && !duration_.is_due(now) ? consumer_.run
                                                                                          : join_anew(busy);
  }
  /// The consumer is about to sleep: it keeps nothing that runners want.
  void leave_if_long(Lock& lock) noexcept;
  /// It made so many samples with that, and this is how long it took. The consumer's.
  void count_joined(std::uint64_t samples, std::uint64_t ns) noexcept {
    consumer_.joined.add(samples);
    consumer_.busy_ns.add(ns);
  }
  /// Samples that were taken together for short took long: they `waited` for something, or not. Not under the mutex;
  /// any thread that makes samples.
  void note_long(bool waited) noexcept;
  /// There are more runners than there may be now: the one that sees it leaves. Any thread.
  bool crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }
  /// Waits until something changed. While all runners run there is nothing else to do, for `longest` where that is
  /// given. Where threads are short (an application's own limit, a busy shared executor, a single worker that waits
  /// here itself) this thread works too, as long as it is not `ready`.
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

  /// How many runners there may be, and how many of these are not in work.
  std::size_t most() const noexcept { return max_runners(); }
  std::size_t idle_runners() const noexcept { return max_runners() - std::min<std::size_t>(running_, max_runners()); }
  /// Nobody is in work.
  bool idle() const noexcept { return running_ == 0; }
  /// No reader at all could be opened: `reader_error` says why.
  bool failed() const noexcept { return runs_.failed(); }
  const std::optional<Error>& reader_error() const noexcept { return runs_.error(); }
  /// Readers are opened again. While idle.
  void forget_failures() { runs_.forget_failures(); }

  /// No task comes in from now on; one that is through the door counts as running. Not under the mutex.
  void close_door() noexcept;
  /// What the runners worked with; while idle, and for good. They hold a user's readers, which end without the mutex.
  std::vector<std::unique_ptr<ChainRun>> take_runs() noexcept;

  /// Now and then a look at what runners in work wait for, at moments that they don't choose. Lets the mutex go
  /// meanwhile. The consumer's.
  void look_at_waits(Lock& lock, std::uint64_t now) noexcept;

  void add_to(RunTotals& totals) const;

 private:
  /// How tasks come in. They hold the door, not the pool, so that none keeps it, or what it was given, beyond
  /// `close_door`.
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

  /// What the consumer's thread does of the runners' work while it waits.
  struct Consumer {
    bool joins = false;              ///< it is one of the runners
    ChainRun* run = nullptr;         ///< what it works with, once there is one; it alone changes this
    RelaxedCounter joined, busy_ns;  ///< samples that it made as one, and the time of that
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
  unsigned scheduled_ = 0;              ///< tasks: waiting for a thread, or in work
  unsigned running_ = 0, runners_ = 0;  ///< running: runners, also without a reader yet, and the consumer's help
  unsigned threads_seen_ = 0;           ///< the most runners at once
  std::uint64_t busy_ns_ = 0;           ///< less the beginning of each runner now running (wraps)
};

}  // namespace penstock::detail::runtime
