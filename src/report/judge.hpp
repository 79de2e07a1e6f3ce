// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Returns the number of cores whose time the run may use: its quota, or else the number of cores.
inline double core_time(const Report& report) noexcept {
  return report.core_quota != 0 ? report.core_quota : report.cores;
}

/// Names what bounds the run, and how far it is from its limit: sets `bound`, `verdict` and notes from the numbers.
/// `short_samples`: runners without their own core were not wanted. `share_of_loads`: share of the stages' CPU time
/// that loading blocks takes.
void judge(Report& report, bool short_samples = false, double share_of_loads = 0);

}  // namespace penstock::detail::runtime
