// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// The causes that the verdict mentions in addition to what bounds the run.
struct MentionedCauses {
  bool delay = false;  ///< runners waited for a core
  bool pause = false;  ///< pauses of the caller
};

/// Returns a sentence about what cost the runners most time, without causes that the verdict mentions. Empty if this
/// cost is small, or the verdict names no single cause. The sentence gives the cost as a share of the time of all
/// runners that the run may have.
std::string next_cause(const Report& report, const MentionedCauses& told);

}  // namespace penstock::detail::runtime
