#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::detail {

/// How long the cores that this process may use have worked, since the machine began, in seconds.
struct CoreTime {
  double all_s = 0;      ///< for every process
  double own_s = 0;      ///< for this one, on any core
  std::uint64_t at = 0;  ///< when that was, by `now_ns()`
  unsigned cores = 0;
};

/// Time of the cores so far; none where the system does not show it.
std::optional<CoreTime> read_core_time() noexcept;
/// Seconds that the cores of `set` have worked for processes, as the text of /proc/stat says; none where one of them is
/// not in it.
std::optional<double> parse_busy_seconds(std::string_view stat, const cpu_set_t& set, double ticks_a_second) noexcept;

/// Who had the cores' time between two moments, as shares of it.
struct CoreShares {
  double own = 0, others = 0;
};
/// Shares between two times; none where too little time lies between them for a clock of 10 ms.
std::optional<CoreShares> core_shares(const CoreTime& from, const CoreTime& to) noexcept;

/// So many cores' time does a quota of the control group give this process; 0 = there is none, or it can't be seen.
double core_quota() noexcept;
/// Cores' time that a quota gives, as `core_quota()`, where control groups are mounted at `mount`, and
/// /proc/self/cgroup says `groups`.
double core_quota(const std::string& mount, std::string_view groups);

}  // namespace penstock::detail
