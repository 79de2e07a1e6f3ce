#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <penstock/executor.hpp>

namespace penstock {

/// The arena of an Executor. `src/base/executor.cpp` alone knows that it is oneTBB's.
class Executor::Impl {
 public:
  /// How long a task may go on while others wait for a thread.
  static constexpr std::chrono::milliseconds turn{2};

  explicit Impl(unsigned threads);
  ~Impl();

  unsigned threads() const noexcept { return threads_; }
  /// Why there are fewer than were wanted; empty: there are not.
  const std::string& shortage() const noexcept { return shortage_; }
  /// What is submitted from now on runs on so many of the threads at most, others than those wait asleep: threads that
  /// look for work in vain take cores from those that have some. For an executor that one loader has alone; one thread
  /// at a time, while others submit. @throws std::bad_alloc: it is as before.
  void use(unsigned threads);
  /// Runs `task` on one of the threads, soon; never inside this call. It must not throw. Any thread.
  void submit(std::function<void()> task);
  /// Tasks submitted and not begun: somebody waits for a thread.
  /// Relaxed: it orders nothing, and a runner that sees it late gives way a sample later.
  unsigned waiting() const noexcept { return waiting_->load(std::memory_order_relaxed); }

 private:
  class Share;
  struct Arena;
  class IdleArenas;
  void start();
  pid_t process_;
  unsigned threads_ = 0;
  std::string shortage_;
  // Outlives this object where the arena has tasks left that nobody came for.
  std::shared_ptr<std::atomic<unsigned>> waiting_;
  std::unique_ptr<Share> share_;
  // One for each number of threads that was used; none goes before the end, as it may have tasks left.
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::atomic<Arena*> arena_{nullptr};  // the one in use
};

namespace detail {
/// @throws Error(invalid_argument) for more threads than any machine has; 0 stands for a default.
void check_threads(unsigned threads);
}  // namespace detail

}  // namespace penstock
