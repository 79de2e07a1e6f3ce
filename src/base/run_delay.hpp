#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/counters.hpp"

namespace penstock::detail {

/// How long this thread was ready to run so far while others had the cores, in nanoseconds; none where the kernel does
/// not count it.
std::optional<std::uint64_t> run_delay_ns() noexcept;
/// What the text of a thread's `schedstat` says of that.
std::optional<std::uint64_t> parse_run_delay(std::string_view schedstat) noexcept;

/// How much of a thread's time it waited for a core. Asking the kernel takes some microseconds, so it is done now and
/// then. One thread at a time, which may be another after `end`; `share` from any.
class DelayMeter {
 public:
  /// Work begins on this thread, or goes on. Times are those of `now_ns()`.
  void begin(std::uint64_t now) noexcept;
  /// Work still goes on; nothing happens where it has not begun.
  void tick(std::uint64_t now) noexcept;
  /// Work is over, or goes on elsewhere.
  void end(std::uint64_t now) noexcept;

  std::uint64_t delay_ns() const noexcept { return delay_ns_.get(); }
  /// The time that this was found in; 0: nothing is known.
  std::uint64_t measured_ns() const noexcept { return measured_ns_.get(); }

 private:
  void look(std::uint64_t now) noexcept;

  static constexpr std::uint64_t interval_ns = 5'000'000;
  RelaxedCounter delay_ns_, measured_ns_;
  bool at_work_ = false;
  std::uint64_t looked_ = 0;  // when the kernel was asked last
  std::optional<std::uint64_t> before_;
};

/// Tells time in which this thread waited of its own accord, for a disk, a lock or a network, from time in which it
/// only had no core. `asks`: the kernel, some microseconds each time; else both count as waiting where there was any.
class WaitWatch {
 public:
  explicit WaitWatch(bool asks) noexcept;
  /// How much of `off_ns`, the time off the core since this was asked last, the thread waited of its own accord.
  std::uint64_t waited(std::uint64_t off_ns) noexcept;

 private:
  std::uint64_t blocked_;
  std::optional<std::uint64_t> delay_;
  std::uint64_t not_waited_ = 0;  // since `delay_` was asked for
};

}  // namespace penstock::detail
