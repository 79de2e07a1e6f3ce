#pragma once

namespace penstock::detail::runtime {

/// How those who make and retire samples reach the run's other threads. Any thread.
class ThreadSignals {
 public:
  virtual ~ThreadSignals() = default;
  /// There is work for more runners.
  virtual void wake_runners() noexcept = 0;
  /// The consumer is asked what is skipped.
  virtual void wake_consumer() noexcept = 0;
  /// Runners are to leave.
  virtual bool paused() const noexcept = 0;
};

}  // namespace penstock::detail::runtime
