// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Number of kinds of waiting.
inline constexpr std::size_t wait_kinds = static_cast<std::size_t>(Wait::other) + 1;

/// Returns the system's number of this thread; 0: unknown.
int this_thread_id() noexcept;
/// Returns what another thread of this process waits for at this moment. None if it does not wait, has ended, or the
/// system does not show it. Takes a few microseconds.
std::optional<Wait> wait_of_thread(int id) noexcept;
/// Returns the same from the text of the thread's /proc/self/task/ID/syscall.
std::optional<Wait> parse_wait(std::string_view syscall) noexcept;

}  // namespace penstock::detail::runtime
