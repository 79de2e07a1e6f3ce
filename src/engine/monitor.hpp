#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace penstock::detail::runtime {

/// What a run's threads agree by: the consumer, the runners, and whoever lets a batch go.
struct Monitor {
  using Lock = std::unique_lock<std::mutex>;

  std::mutex mutex;
  std::condition_variable changed;
  // Runners look at these for each sample, the consumer takes the mutex several times a batch: on lines of their own.
  alignas(64) std::atomic<bool> paused{true};  ///< runners leave, and nothing is issued
  std::atomic<bool> stopped{false};            ///< for ever
  /// The consumer waits. Set in a total order with the states of buffers, so that either the consumer sees a buffer
  /// ready, or the runner that made it ready sees the consumer waiting. Cleared relaxed: a runner that sees that late
  /// wakes nobody.
  std::atomic<bool> waiting{false};
  alignas(64) bool closed = false;  ///< under the mutex

  // Relaxed: a runner that sees it late makes one sample more, which `seek` waits for under the mutex. And the consumer
  // can't see it late where it matters: a sample that was cut short saw the stop, which was requested after the store,
  // and was then counted off its buffer (acquire, release); whichever thread finds that buffer ready sees the store.
  bool is_paused() const noexcept { return paused.load(std::memory_order_relaxed); }

  /// Wakes whoever waits, where what it waits for was changed without the mutex. Held in between, so that a thread that
  /// has looked and found nothing is asleep by now; let go before it is woken, or it would wake only to wait for it.
  void notify() noexcept {
    { const std::lock_guard held(mutex); }
    changed.notify_all();
  }
};

}  // namespace penstock::detail::runtime
