// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace penstock::detail {

/// Returns a monotonic time in nanoseconds.
inline std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

/// Returns the time of the same clock as `now_ns`, at a quarter of the cost. The value changes only every few
/// milliseconds.
inline std::uint64_t coarse_now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace penstock::detail
