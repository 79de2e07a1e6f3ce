#include <penstock/executor.hpp>

#include <unistd.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <set>
#include <utility>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <penstock/error.hpp>

#include "executor_impl.hpp"
#include "failure.hpp"

namespace penstock {

namespace {

// oneTBB starts one worker fewer than there are cores, whatever an arena asks for, and of several global_controls the
// smallest wins. So all executors of the process that need more share one control, for the one that needs most; where
// none does, there is none and the application's own settings stand.
class Workers {
 public:
  static Workers& instance() {
    static Workers& workers = *new Workers;  // never destroyed: executors may live in statics
    return workers;
  }
  void need(unsigned threads) {
    const std::lock_guard lock(mutex_);
    needs_.insert(threads);
    update();
  }
  void done(unsigned threads) {
    const std::lock_guard lock(mutex_);
    needs_.erase(needs_.find(threads));
    update();
  }

 private:
  void update() {
    const unsigned most = needs_.empty() ? 0 : *needs_.rbegin();
    if (most == held_) return;
    std::unique_ptr<tbb::global_control> next;
    if (most != 0)
      next = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism, std::size_t{most} + 1);
    control_ = std::move(next);
    held_ = most;
  }
  std::mutex mutex_;
  std::multiset<unsigned> needs_;
  unsigned held_ = 0;
  std::unique_ptr<tbb::global_control> control_;
};

// Tasks that wait for a thread. oneTBB is given their places in this list only: what nothing but its memory points to
// would count as leaked where a process ends before its tasks began.
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

// This process. oneTBB's own locks and threads don't survive fork(): what a child asks of it may never return. So the
// children of a process that has once used it can't.
pid_t process_with_threads() {
  static const pid_t first = ::getpid();
  if (const pid_t now = ::getpid(); now == first) return now;
  throw Error(Errc::forked,
              "the process this one was forked from had begun to use threads, which do not survive fork(); fork before "
              "the first loader or executor is made, or exec in the child");
}

unsigned cores() { return static_cast<unsigned>(std::max(1, tbb::info::default_concurrency())); }

}  // namespace

struct Executor::Impl::Arena {
  explicit Arena(unsigned threads) : arena(static_cast<int>(threads), 0) {}
  tbb::task_arena arena;
  unsigned asked = 0;
};

Executor::Impl::Impl(unsigned threads)
    : process_(process_with_threads()),
      threads_(threads != 0 ? threads : std::max(1u, cores() - 1)),
      waiting_(std::make_shared<std::atomic<unsigned>>(0)),
      arena_(std::make_unique<Arena>(threads_)) {
  if (threads != 0 && threads + 1 > cores()) {
    Workers::instance().need(threads);
    arena_->asked = threads;
  }
  arena_->arena.initialize();
}

Executor::Impl::~Impl() {
  if (::getpid() != process_) {  // nothing is left in a child that could be torn down
    static_cast<void>(arena_.release());
    return;
  }
  const unsigned asked = arena_->asked;
  arena_.reset();
  if (asked != 0) Workers::instance().done(asked);
}

void Executor::Impl::check_process() const { static_cast<void>(process_with_threads()); }

void Executor::Impl::submit(std::function<void()> task) {
  const Pending::At at = Pending::instance().add({std::move(task), waiting_});
  try {
    arena_->arena.enqueue([at] { Pending::instance().take(at)(); });
  } catch (...) {
    Pending::instance().take(at);
    throw;
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
