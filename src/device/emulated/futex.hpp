// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace penstock::detail {

// These functions replace std::atomic::wait, which counts its waiters in memory that the waiting thread and the waking
// thread use. To a thread checker, this memory would put the work of the two threads in order. Work on an emulated
// stream would seem to come before the host's next actions. Then the checker would not notice a missing event. A system
// call orders nothing.

/// Waits until `futex_wake_all(word)` is called. Returns at once if `word` is not `expected`, and may return
/// spuriously.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}
inline void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace penstock::detail
