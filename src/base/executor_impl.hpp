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

/// The threads of an Executor. Only `src/base/executor.cpp` knows that they are oneTBB's.
class Executor::Impl {
 public:
  /// How long a task may continue while other tasks wait for a thread.
  static constexpr std::chrono::milliseconds turn{2};

  explicit Impl(unsigned threads);
  ~Impl();

  unsigned threads() const noexcept { return threads_; }
  /// Returns why there are fewer threads than requested. Returns an empty text if there are as many as requested.
  const std::string& shortage() const noexcept { return shortage_; }
  /// Runs all tasks that are submitted after this call on at most `threads` of the executor's threads. The executor's
  /// other threads sleep, because a thread that looks for work takes a core from a thread that has work. Call `use`
  /// only if at most one loader uses the executor. One thread at a time may call it; other threads may
  /// submit meanwhile.
  /// @throws std::bad_alloc; the number of threads is unchanged then.
  void use(unsigned threads);
  /// Runs `task` soon on one of the executor's threads, never inside this call. `task` must not throw. Any thread may
  /// call `submit`.
  void submit(std::function<void()> task);
  /// Returns the number of tasks that were submitted and wait for a thread. A relaxed load is enough: a runner that
  /// sees a new number late only gives way one sample later.
  unsigned waiting() const noexcept { return waiting_->load(std::memory_order_relaxed); }

 private:
  class Share;
  struct Arena;
  class IdleArenas;
  void start();
  pid_t process_;
  unsigned threads_ = 0;
  std::string shortage_;
  // Shared with the tasks that wait, because tasks that no thread took may outlive this object.
  std::shared_ptr<std::atomic<unsigned>> waiting_;
  std::unique_ptr<Share> share_;
  // One arena for each number of threads that `use` was called with. An arena may have tasks left, so all arenas live
  // as long as this object.
  std::vector<std::unique_ptr<Arena>> arenas_;
  std::atomic<Arena*> arena_{nullptr};  // where `submit` puts tasks
};

namespace detail {
/// Checks a number of threads; 0 means a default. @throws Error(invalid_argument) if the number is more than 16,384.
void check_threads(unsigned threads);
}  // namespace detail

}  // namespace penstock
