#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Kinds of waiting.
inline constexpr std::size_t wait_kinds = static_cast<std::size_t>(Wait::other) + 1;

/// This thread, as the system numbers it; 0: unknown.
int this_thread_id() noexcept;
/// What another thread of this process waits for at this moment; none where it does not wait, is gone, or the system
/// does not tell. Some microseconds.
std::optional<Wait> wait_of_thread(int id) noexcept;
/// The same, from the text of its /proc/self/task/ID/syscall.
std::optional<Wait> parse_wait(std::string_view syscall) noexcept;

}  // namespace penstock::detail::runtime
