// SPDX-License-Identifier: Apache-2.0
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

/// The arena of an Executor. Only `src/base/executor.cpp` knows that it is oneTBB's.
class Executor::Impl {
 public:
  /// How long a task may continue while others wait for a thread.
  static constexpr std::chrono::milliseconds turn{2};

  explicit Impl(unsigned threads);
  ~Impl();

  unsigned threads() const noexcept { return threads_; }
  /// Why there are fewer threads than requested; empty if there are not.
  const std::string& shortage() const noexcept { return shortage_; }
  /// Runs tasks that are submitted from now on, on at most `threads` of the threads. The others sleep, because threads
  /// that look for work take cores from threads that have some. Only for an executor that one loader uses. One thread
  /// at a time calls it; other threads may submit.
  /// @throws std::bad_alloc; nothing has changed then.
  void use(unsigned threads);
  /// Runs `task` on one of the threads, soon; never inside this call. It must not throw. Any thread.
  void submit(std::function<void()> task);
  /// Returns the number of tasks that were submitted and wait for a thread. Relaxed: it orders nothing, and a runner
  /// that sees it late gives way a sample later.
  unsigned waiting() const noexcept { return waiting_->load(std::memory_order_relaxed); }

 private:
  class Share;
  struct Arena;
  class IdleArenas;
  void start();
  pid_t process_;
  unsigned threads_ = 0;
  std::string shortage_;
  // Outlives this object if the arena has tasks left that no thread took.
  std::shared_ptr<std::atomic<unsigned>> waiting_;
  std::unique_ptr<Share> share_;
  // One for each number of threads that was used. None is destroyed before the end, because it may have tasks left.
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::atomic<Arena*> arena_{nullptr};  // the one in use
};

namespace detail {
/// Checks a number of threads; 0 means a default. @throws Error(invalid_argument) if it is more than any machine has.
void check_threads(unsigned threads);
}  // namespace detail

}  // namespace penstock
