// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::detail::runtime {

/// How the runners that make and retire samples reach the run's other threads. Any thread.
class ThreadSignals {
 public:
  virtual ~ThreadSignals() = default;
  /// Wakes runners, because there is work for more of them.
  virtual void wake_runners() noexcept = 0;
  /// Wakes the consumer, which must decide what is skipped.
  virtual void wake_consumer() noexcept = 0;
  /// Returns whether runners should stop.
  virtual bool paused() const noexcept = 0;
};

}  // namespace penstock::detail::runtime
