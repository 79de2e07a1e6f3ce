// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/counters.hpp"

namespace penstock::detail {

/// Returns how many nanoseconds this thread has been ready to run so far while other threads had the cores. Returns
/// none if the kernel does not count this time.
std::optional<std::uint64_t> run_delay_ns() noexcept;
/// Like `run_delay_ns`, but reads the time from `schedstat`, the text of a thread's file of that name.
std::optional<std::uint64_t> parse_run_delay(std::string_view schedstat) noexcept;

/// Measures how much of its time a thread waited for a core. Asking the kernel takes a few microseconds, so while work
/// continues the meter asks at most every 5 ms. One thread at a time uses a meter; after `end` a different thread may
/// begin. Any thread may call `delay_ns` and `measured_ns`.
class DelayMeter {
 public:
  /// Call when work begins on this thread, or continues on it. `now` is a value of `now_ns()`.
  void begin(std::uint64_t now) noexcept;
  /// Call while work continues. Does nothing if work has not begun.
  void tick(std::uint64_t now) noexcept;
  /// Call when work is over, or continues on another thread.
  void end(std::uint64_t now) noexcept;

  std::uint64_t delay_ns() const noexcept { return delay_ns_.get(); }
  /// Returns the time over which `delay_ns` was measured; 0 if nothing was measured.
  std::uint64_t measured_ns() const noexcept { return measured_ns_.get(); }

 private:
  void look(std::uint64_t now) noexcept;

  static constexpr std::uint64_t interval_ns = 5'000'000;
  RelaxedCounter delay_ns_, measured_ns_;
  bool at_work_ = false;
  std::uint64_t looked_ = 0;  // when the kernel was asked last
  std::optional<std::uint64_t> before_;
};

/// Finds out how much of its time off the core this thread waited for a disk, a lock or a network. In the rest of that
/// time it was ready, but had no core. With `asks`, the watch asks the kernel how long the thread was ready, which
/// takes a few microseconds each time. Without `asks`, or if the kernel does not count that time, `waited` can't tell
/// waiting from being ready. Then all time off the core counts as waiting if the thread waited at all since the last
/// call.
class WaitWatch {
 public:
  explicit WaitWatch(bool asks) noexcept;
  /// Returns how much of `off_ns` the thread waited. `off_ns`: the thread's time off the core since the last call.
  std::uint64_t waited(std::uint64_t off_ns) noexcept;

 private:
  std::uint64_t blocked_;
  std::optional<std::uint64_t> delay_;
  std::uint64_t not_waited_ = 0;  // time off the core since `delay_` was read, in which the thread did not wait
};

}  // namespace penstock::detail
