// SPDX-License-Identifier: Apache-2.0
#include "base/run_delay.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace penstock::detail {

// The text has three numbers: the thread's time on a core, the time in which it waited for a core, and how often it got
// a core. A kernel that does not count writes three zeros. A kernel that counts can't write zero as the third number,
// because the thread that reads the file has got a core.
std::optional<std::uint64_t> parse_run_delay(std::string_view schedstat) noexcept {
  std::uint64_t numbers[3] = {};
  const char *at = schedstat.data(), *const end = at + schedstat.size();
  for (std::uint64_t& number : numbers) {
    while (at != end && *at == ' ') ++at;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return std::nullopt;
    at = after;
  }
  if (numbers[2] == 0) return std::nullopt;
  return numbers[1];
}

std::optional<std::uint64_t> run_delay_ns() noexcept {
  const int file = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  char text[96];
  const ssize_t got = ::read(file, text, sizeof text);
  ::close(file);
  if (got <= 0) return std::nullopt;
  return parse_run_delay({text, static_cast<std::size_t>(got)});
}

void DelayMeter::look(std::uint64_t now) noexcept {
  const std::optional<std::uint64_t> delay = run_delay_ns();
  if (delay && before_ && *delay >= *before_ && now > looked_) {
    delay_ns_.add(*delay - *before_);
    measured_ns_.add(now - looked_);
  }
  looked_ = now;
  before_ = delay;
}

void DelayMeter::begin(std::uint64_t now) noexcept {
  at_work_ = true;
  before_.reset();
  if (looked_ == 0 || now - looked_ >= interval_ns) look(now);
}

void DelayMeter::tick(std::uint64_t now) noexcept {
  if (at_work_ && now - looked_ >= interval_ns) look(now);
}

void DelayMeter::end(std::uint64_t now) noexcept {
  if (before_) look(now);
  at_work_ = false;
  before_.reset();
}

WaitWatch::WaitWatch(bool asks) noexcept
    : blocked_(times_blocked()), delay_(asks ? run_delay_ns() : std::optional<std::uint64_t>()) {}

std::uint64_t WaitWatch::waited(std::uint64_t off_ns) noexcept {
  if (off_ns == 0) return 0;
  const std::uint64_t blocked = times_blocked();
  if (blocked == blocked_) {
    not_waited_ += off_ns;
    return 0;
  }
  blocked_ = blocked;
  if (!delay_) return off_ns;
  const std::optional<std::uint64_t> delay = run_delay_ns();
  if (!delay) return off_ns;
  // The delay includes `not_waited_`, the time off the core for which earlier calls returned 0.
  const std::uint64_t all = *delay - std::min(*delay, *delay_);
  const std::uint64_t here = all - std::min(all, not_waited_);
  delay_ = delay;
  not_waited_ = 0;
  return off_ns - std::min(off_ns, here);
}

}  // namespace penstock::detail
