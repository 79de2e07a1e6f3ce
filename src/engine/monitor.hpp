// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace penstock::detail::runtime {

/// Synchronises the threads of a run: the consumer, the runners, and threads that release a batch.
struct Monitor {
  using Lock = std::unique_lock<std::mutex>;

  std::mutex mutex;
  std::condition_variable changed;
  // The next three members share no cache line with the mutex. Runners read them often, and would be slowed
  // down by the consumer, which locks the mutex several times per batch.
  alignas(64) std::atomic<bool> paused{true};  ///< runners should leave, and nothing is issued
  std::atomic<bool> stopped{false};            ///< permanently stopped
  /// The consumer waits for a batch. Sequentially consistent, like the states of buffers: either the consumer sees that
  /// a buffer is ready, or the runner that made the buffer ready sees that the consumer waits. Clearing is relaxed,
  /// because a runner that sees the clearing late only notifies without need.
  std::atomic<bool> waiting{false};
  alignas(64) bool closed = false;  ///< the run is closed; guarded by the mutex

  // For runners, relaxed order is enough. A runner that sees the pause late only makes one more sample, and `seek`
  // waits under the mutex until that sample is done. The consumer must see the pause if a sample was cut short by a
  // stop. The stop was requested after `paused` was set, and the cut sample was subtracted from its buffer's `left`
  // (release). So the consumer, which finds the buffer ready (acquire), sees `paused`.
  bool is_paused() const noexcept { return paused.load(std::memory_order_relaxed); }

  /// Wakes the waiting threads after a change that was made without the mutex. Locks the mutex once, so that a thread
  /// that checked before the change is asleep and can be woken. Unlocks the mutex before the wake-up, so that a woken
  /// thread need not wait for the mutex.
  void notify() noexcept {
    { const std::lock_guard held(mutex); }
    changed.notify_all();
  }
};

}  // namespace penstock::detail::runtime
