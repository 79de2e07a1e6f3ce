// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace penstock::detail {

// std::atomic::wait counts its waiters in memory that both sides write. This orders more than the atomic itself does:
// work on an emulated stream would seem to be before the host's next actions, and a missing event would not be noticed.
// A system call orders nothing.

/// Returns when woken, when `word` is not `expected`, or spuriously.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
inline void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace penstock::detail
