// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/counters.hpp"

namespace penstock::detail {

/// Returns for how long this thread was ready to run so far while others had the cores, in nanoseconds. Returns none if
/// the kernel does not count it.
std::optional<std::uint64_t> run_delay_ns() noexcept;
/// Reads this time from the text of a thread's `schedstat`.
std::optional<std::uint64_t> parse_run_delay(std::string_view schedstat) noexcept;

/// Measures how much of its time a thread waited for a core. Asking the kernel takes a few microseconds, so it is done
/// only now and then. One thread at a time uses it; after `end` it may be a different one. Any thread may call
/// `delay_ns` and `measured_ns`.
class DelayMeter {
 public:
  /// Work begins on this thread, or continues. Times are values of `now_ns()`.
  void begin(std::uint64_t now) noexcept;
  /// Work still continues. Does nothing if work has not begun.
  void tick(std::uint64_t now) noexcept;
  /// Work is over, or continues on another thread.
  void end(std::uint64_t now) noexcept;

  std::uint64_t delay_ns() const noexcept { return delay_ns_.get(); }
  /// Returns the time over which `delay_ns` was measured; 0 if nothing is known.
  std::uint64_t measured_ns() const noexcept { return measured_ns_.get(); }

 private:
  void look(std::uint64_t now) noexcept;

  static constexpr std::uint64_t interval_ns = 5'000'000;
  RelaxedCounter delay_ns_, measured_ns_;
  bool at_work_ = false;
  std::uint64_t looked_ = 0;  // when the kernel was asked last
  std::optional<std::uint64_t> before_;
};

/// Distinguishes time in which this thread waited for a disk, a lock or a network from time in which it only had no
/// core. With `asks` it asks the kernel, which takes a few microseconds each time. Otherwise both count as waiting if
/// there was any.
class WaitWatch {
 public:
  explicit WaitWatch(bool asks) noexcept;
  /// Returns how much of `off_ns`, the time off the core since the last call, the thread waited voluntarily.
  std::uint64_t waited(std::uint64_t off_ns) noexcept;

 private:
  std::uint64_t blocked_;
  std::optional<std::uint64_t> delay_;
  std::uint64_t not_waited_ = 0;  // since `delay_` was asked for
};

}  // namespace penstock::detail
