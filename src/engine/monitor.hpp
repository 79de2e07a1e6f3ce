// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace penstock::detail::runtime {

/// What a run's threads synchronise with: the consumer, the runners, and threads that release a batch.
struct Monitor {
  using Lock = std::unique_lock<std::mutex>;

  std::mutex mutex;
  std::condition_variable changed;
  // On their own cache lines: runners read these for each sample, and the consumer takes the mutex several times per
  // batch.
  alignas(64) std::atomic<bool> paused{true};  ///< runners leave, and nothing is issued
  std::atomic<bool> stopped{false};            ///< permanently stopped
  /// The consumer waits. Set in a total order with the states of buffers: either the consumer sees a buffer ready, or
  /// the runner that made it ready sees that the consumer waits. Cleared relaxed: a runner that sees that late only
  /// notifies without need.
  std::atomic<bool> waiting{false};
  alignas(64) bool closed = false;  ///< under the mutex

  // Relaxed: a runner that sees it late makes one more sample, and `seek` waits for that under the mutex. The consumer
  // sees it in time where that matters. A sample that was cut short saw the stop, which was requested after the store.
  // The sample was then counted off its buffer (acquire, release), so the thread that finds the buffer ready sees the
  // store.
  bool is_paused() const noexcept { return paused.load(std::memory_order_relaxed); }

  /// Wakes the waiting threads after a change that was made without the mutex. Locks the mutex once, so that a thread
  /// that has checked and found nothing is asleep by then. Unlocks it before the wake-up; otherwise the woken thread
  /// would have to wait for the mutex.
  void notify() noexcept {
    { const std::lock_guard held(mutex); }
    changed.notify_all();
  }
};

}  // namespace penstock::detail::runtime
