// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::detail {

/// The seconds for which cores have worked, added up over the cores.
struct CoreTime {
  double all_s = 0;      ///< work for all processes on the cores that this process may use, since the machine started
  double own_s = 0;      ///< work for this process on all cores, since the process started
  std::uint64_t at = 0;  ///< when the times were measured, by `now_ns()`
  unsigned cores = 0;    ///< number of cores that this process may use
};

/// Returns the present values. Returns none if the system does not show them.
std::optional<CoreTime> read_core_time() noexcept;
/// Returns for how many seconds the cores of `set` have worked for processes, in all. `stat`: the text of /proc/stat.
/// Returns none if the text lacks one of the cores or its numbers.
std::optional<double> parse_busy_seconds(std::string_view stat, const cpu_set_t& set, double ticks_a_second) noexcept;

/// The shares of the cores' time that this process and other processes took between two moments.
struct CoreShares {
  double own = 0, others = 0;
};
/// Returns the shares between two moments. Returns none if the number of cores has changed. Also returns none if the
/// moments are less than 200 ms apart, because the kernel's clock ticks only every 10 ms.
std::optional<CoreShares> core_shares(const CoreTime& from, const CoreTime& to) noexcept;

/// Returns how many cores this process may keep busy under the quotas of its control groups. The number may have a
/// fraction. Returns 0 if there is no quota or it can't be read.
double core_quota() noexcept;
/// Like `core_quota()`, but the control groups are mounted at `mount`, and `groups` is the text of /proc/self/cgroup.
double core_quota(const std::string& mount, std::string_view groups);

}  // namespace penstock::detail
