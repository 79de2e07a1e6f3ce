// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// Returns how many cores' time the run may use: the quota if one is set, otherwise the number of cores.
inline double core_time(const Report& report) noexcept {
  return report.core_quota != 0 ? report.core_quota : report.cores;
}

/// Names what bounds the run, and how far the run is from its limit. Sets `bound`, `verdict`, `besides` and notes from
/// the report's numbers. `short_samples`: samples are so short that only as many runners as cores were used.
/// `share_of_loads`: share of the stages' CPU time that loading blocks takes.
void set_verdict(Report& report, bool short_samples = false, double share_of_loads = 0);

}  // namespace penstock::detail::runtime
