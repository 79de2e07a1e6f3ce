// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Number of kinds of waiting.
inline constexpr std::size_t wait_kinds = static_cast<std::size_t>(Wait::other) + 1;

/// Returns the system's number of the calling thread, which is never 0.
int this_thread_id() noexcept;
/// Returns what another thread of this process waits for at this moment. None if the thread does not wait or has ended,
/// or if the system does not show the wait. Takes a few microseconds.
std::optional<Wait> wait_of_thread(int id) noexcept;
/// Returns what a thread waits for, from the text of its /proc/self/task/ID/syscall. Returns none if the text shows no
/// wait.
std::optional<Wait> parse_wait(std::string_view syscall) noexcept;

}  // namespace penstock::detail::runtime
