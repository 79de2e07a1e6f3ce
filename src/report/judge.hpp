#pragma once

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Cores' time that the run may use: a quota, or else the cores.
inline double core_time(const Report& report) noexcept {
  return report.core_quota != 0 ? report.core_quota : report.cores;
}

/// Names what bounds the run, and how far it is from its limit: from the numbers sets `bound`, `verdict` and notes.
/// `short_samples`: runners without a core of their own were not wanted. `share_of_loads`: of the stages' CPU time,
/// that which loading blocks takes.
void judge(Report& report, bool short_samples = false, double share_of_loads = 0);

}  // namespace penstock::detail::runtime
