#pragma once

#include <chrono>
#include <cstdint>

namespace penstock::detail {

/// Monotonic time in nanoseconds.
inline std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}

}  // namespace penstock::detail
