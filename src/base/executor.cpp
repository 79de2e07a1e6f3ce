// SPDX-License-Identifier: Apache-2.0
#include <penstock/executor.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <penstock/error.hpp>

#include "base/executor_impl.hpp"
#include "base/failure.hpp"
#include "base/process.hpp"
#include "base/startable_threads.hpp"

namespace penstock {

namespace {

unsigned cores() { return static_cast<unsigned>(std::max(1, tbb::info::default_concurrency())); }

// Without a global_control, oneTBB never has more workers than the number of cores less one, however many threads an
// arena asks for. If there are several global_controls, the smallest value counts. So all executors of this process
// that need more workers share one control, with the value of the executor that needs most. If no executor needs more
// and the system allows all workers, this class makes no control, and the application's own settings count.
//
// If the system refuses to start a worker, the process ends: oneTBB starts workers from other workers, where nothing
// catches the exception. So an executor asks oneTBB only for as many workers as could be started a moment before. It
// has oneTBB start them at once, because other threads of the application might take their places later.
class WorkerBudget {
 public:
  static WorkerBudget& instance() {
    static WorkerBudget& workers = *new WorkerBudget;  // never destroyed: executors may live in statics
    return workers;
  }
  /// Reserves `threads` workers for an executor. `asked`: whether `threads` is more than oneTBB would start without a
  /// control. Returns how many of these workers the system lets oneTBB start.
  unsigned need(unsigned threads, bool asked) {
    const std::lock_guard lock(mutex_);
    if (asked) needs_.insert(threads);
    wanted_ += threads;
    try {
      find_startable();
      update();
    } catch (...) {
      forget(threads, asked);
      throw;
    }
    return limited_ ? std::min(threads, startable_) : threads;
  }
  /// Returns how many workers oneTBB may have in all. Returns 0 if it has started all of them.
  unsigned to_start() {
    const std::lock_guard lock(mutex_);
    const unsigned all = limited_ ? startable_ : required();
    return started_ < all ? all : 0;
  }
  void have_started(unsigned threads) {
    const std::lock_guard lock(mutex_);
    started_ = std::max(started_, threads);
  }
  void done(unsigned threads, bool asked) {
    const std::lock_guard lock(mutex_);
    forget(threads, asked);
    if (wanted_ == 0) startable_ = started_;  // these workers stay, asleep; later the system may refuse more than these
    // oneTBB may still have tasks that no worker took. Without a control, oneTBB would start workers for these tasks,
    // and the system might refuse them. So if the system allows too few workers, the control stays when the last
    // executor goes.
    if (wanted_ != 0 || !limited_) update();
  }

 private:
  void forget(unsigned threads, bool asked) {
    if (asked) needs_.erase(needs_.find(threads));
    wanted_ -= threads;
  }
  unsigned asked() const { return needs_.empty() ? 0 : *needs_.rbegin() + 1; }
  // Returns how many workers oneTBB would start if the system refused none.
  unsigned required() const {
    std::size_t most = asked() != 0 ? asked() : cores();
    // The application may have a control that allows fewer threads than there are cores. (`held_` is 0, so the control
    // is not ours.)
    if (held_ == 0) {
      const std::size_t allowed = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
      if (allowed < cores()) most = std::min(most, allowed);
    }
    return static_cast<unsigned>(std::min<std::size_t>(wanted_, std::max<std::size_t>(most, 1) - 1));
  }
  void find_startable() {
    constexpr int tries = 10;
    const unsigned all = required();
    for (int i = 0; i < tries && startable_ < all; ++i) {
      if (i != 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // threads that are about to end make room
      // oneTBB may have started more workers than `started_`; the additional ones are not counted.
      startable_ = std::max(startable_, started_ + detail::startable_threads(all - std::min(all, started_)));
    }
    limited_ = startable_ < all;
  }
  void update() {
    const unsigned most = limited_ ? startable_ + 1 : asked();
    if (most == held_) return;
    std::unique_ptr<tbb::global_control> next;
    if (most != 0)
      next = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, std::size_t{most});
    control_ = std::move(next);
    held_ = most;
  }
  std::mutex mutex_;
  std::multiset<unsigned> needs_;
  std::size_t wanted_ = 0;  // threads of all executors together
  unsigned startable_ = 0;  // how many workers the system lets oneTBB have
  unsigned started_ = 0;    // the most workers that were seen at the same time
  bool limited_ = false;    // whether `startable_` is less than the number of workers that are needed
  unsigned held_ = 0;
  std::unique_ptr<tbb::global_control> control_;
};

// Tasks that wait for a thread. oneTBB gets only iterators of this list. If only oneTBB's memory pointed to a task,
// leak checkers would report the task when a process ends before the task begins.
class Pending {
 public:
  struct Task {
    std::function<void()> run;
    std::shared_ptr<std::atomic<unsigned>> waiting;
  };
  using At = std::list<Task>::iterator;

  static Pending& instance() {
    static Pending& pending = *new Pending;  // never destroyed: tasks may outlive main()
    return pending;
  }
  At add(Task task) {
    std::list<Task> one;
    one.push_back(std::move(task));
    const std::lock_guard lock(mutex_);
    one.front().waiting->fetch_add(1, std::memory_order_relaxed);
    const At at = one.begin();
    tasks_.splice(tasks_.end(), one);
    return at;
  }
  std::function<void()> take(At at) {
    std::list<Task> one;
    {
      const std::lock_guard lock(mutex_);
      one.splice(one.end(), tasks_, at);
    }
    one.front().waiting->fetch_sub(1, std::memory_order_relaxed);
    return std::move(one.front().run);
  }

 private:
  std::mutex mutex_;
  std::list<Task> tasks_;
};

}  // namespace

// The workers that one executor has reserved in `WorkerBudget`.
class Executor::Impl::Share {
 public:
  Share(unsigned wanted, bool asked)
      : wanted_(wanted), asked_(asked), startable_(WorkerBudget::instance().need(wanted, asked)) {}
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  ~Share() { WorkerBudget::instance().done(wanted_, asked_); }
  unsigned startable() const noexcept { return startable_; }
  unsigned threads() const noexcept { return std::max(1u, startable_); }

 private:
  unsigned wanted_;
  bool asked_;
  unsigned startable_;
};

struct Executor::Impl::Arena {
  explicit Arena(unsigned its_threads) : threads(its_threads), arena(static_cast<int>(its_threads), 0) {
    arena.initialize();
  }
  unsigned threads;
  tbb::task_arena arena;
};

// Arenas of destroyed executors, kept for later executors. oneTBB frees an arena only after a worker has looked for
// work in it a hundred times without success. The worker yields its core each time, so this takes long on a busy
// machine. If each executor made new arenas, the arenas of short-lived executors would pile up meanwhile.
class Executor::Impl::IdleArenas {
 public:
  static IdleArenas& instance() {
    static IdleArenas& idle = *new IdleArenas;  // never destroyed: executors may live in statics
    return idle;
  }
  std::unique_ptr<Arena> take(unsigned threads) {
    {
      const std::lock_guard lock(mutex_);
      // Takes the arena that was kept last, because its workers are the least likely to sleep.
      const auto at = std::find_if(arenas_.rbegin(), arenas_.rend(),
                                   [threads](const auto& arena) { return arena->threads == threads; });
      if (at != arenas_.rend()) {
        std::unique_ptr<Arena> arena = std::move(*at);
        arenas_.erase(std::next(at).base());
        return arena;
      }
    }
    return std::make_unique<Arena>(threads);
  }
  void keep(std::unique_ptr<Arena> arena) noexcept {
    const std::lock_guard lock(mutex_);
    if (arenas_.size() == arenas_.capacity()) arenas_.erase(arenas_.begin());
    arenas_.push_back(std::move(arena));
  }

 private:
  IdleArenas() { arenas_.reserve(64); }
  std::mutex mutex_;
  std::vector<std::unique_ptr<Arena>> arenas_;  // in the order in which they were kept
};

Executor::Impl::Impl(unsigned threads)
    : process_(detail::process_with_threads()), waiting_(std::make_shared<std::atomic<unsigned>>(0)) {
  const unsigned wanted = threads != 0 ? threads : std::max(1u, cores() - 1);
  share_ = std::make_unique<Share>(wanted, threads != 0 && threads + 1 > cores());
  threads_ = share_->threads();
  use(threads_);
  start();
  if (share_->startable() < wanted)
    shortage_ = "the system let this process start only " + std::to_string(share_->startable()) + " of " +
                std::to_string(wanted) + (wanted == 1 ? " thread" : " threads") +
                "; raise RLIMIT_NPROC (ulimit -u), the pids limit of its control group, or the memory it may have";
}

Executor::Impl::~Impl() {
  if (process_id() == process_) {
    for (std::unique_ptr<Arena>& arena : arenas_) IdleArenas::instance().keep(std::move(arena));
  } else {  // a child process has no workers that could be shut down
    for (std::unique_ptr<Arena>& arena : arenas_) static_cast<void>(arena.release());
    static_cast<void>(share_.release());
  }
}

// Makes oneTBB start this executor's workers: submits a task per worker. Each task holds its worker until all workers
// have come, or until no further worker comes.
void Executor::Impl::start() {
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    unsigned there = 0;
    bool over = false;
  };
  const unsigned all = std::min(WorkerBudget::instance().to_start(), share_->startable());
  if (all == 0) return;
  const auto meeting = std::make_shared<Meeting>();
  const auto attend = [meeting] {
    std::unique_lock lock(meeting->mutex);
    ++meeting->there;
    meeting->changed.notify_all();
    meeting->changed.wait(lock, [&] { return meeting->over; });
  };
  unsigned there = 0;
  // Some workers may work for another executor, may wait long for a core, or may never be started by oneTBB. So the
  // meeting ends when no further worker has come for `patience`.
  const auto close = [&](std::chrono::milliseconds patience) {
    std::unique_lock lock(meeting->mutex);
    do there = meeting->there;
    while (there < all && meeting->changed.wait_for(lock, patience, [&] { return meeting->there > there; }));
    meeting->over = true;
    meeting->changed.notify_all();
  };
  try {
    for (unsigned i = 0; i < all; ++i) submit(attend);
  } catch (...) {
    close(std::chrono::milliseconds(0));
    throw;
  }
  close(std::chrono::milliseconds(20));
  WorkerBudget::instance().have_started(there);
}

void Executor::Impl::use(unsigned threads) {
  threads = std::clamp(threads, 1u, threads_);
  auto at = std::find_if(arenas_.begin(), arenas_.end(), [&](const auto& arena) { return arena->threads == threads; });
  if (at == arenas_.end()) {
    arenas_.reserve(arenas_.size() + 1);
    arenas_.push_back(IdleArenas::instance().take(threads));
    at = std::prev(arenas_.end());
  }
  // `submit` loads the pointer with acquire, so it sees the complete arena.
  arena_.store(at->get(), std::memory_order_release);
}

void Executor::Impl::submit(std::function<void()> task) {
  const Pending::At at = Pending::instance().add({std::move(task), waiting_});
  try {
    arena_.load(std::memory_order_acquire)->arena.enqueue([at] { Pending::instance().take(at)(); });
  } catch (const std::bad_alloc&) {
    Pending::instance().take(at);
    throw;
  } catch (const std::exception&) {
    // oneTBB could not start a worker. The task is in oneTBB's queue already, and another worker may take it.
  }
}

void detail::check_threads(unsigned threads) {
  constexpr unsigned most = 1u << 14;
  if (threads > most)
    throw Error(Errc::invalid_argument,
                std::to_string(threads) + " threads; at most " + std::to_string(most) + " can be asked for");
}

Executor::Executor(unsigned threads) {
  detail::check_threads(threads);
  try {
    impl_ = std::make_shared<Impl>(threads);
  } catch (...) {
    throw detail::current_error();
  }
}
unsigned Executor::threads() const noexcept { return impl_->threads(); }

}  // namespace penstock
