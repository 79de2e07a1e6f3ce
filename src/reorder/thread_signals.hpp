// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace penstock::detail::runtime {

/// Signals between the runners and other threads of the run. Any thread may call the functions.
class ThreadSignals {
 public:
  virtual ~ThreadSignals() = default;
  /// Wakes runners, because there is work for more of them.
  virtual void wake_runners() noexcept = 0;
  /// Wakes the consumer, which must decide which samples are skipped.
  virtual void wake_consumer() noexcept = 0;
  /// Returns whether runners should stop.
  virtual bool paused() const noexcept = 0;
};

}  // namespace penstock::detail::runtime
