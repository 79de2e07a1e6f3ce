// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// What the verdict already mentions in addition to what bounds the run.
struct MentionedCauses {
  bool delay = false;  ///< runners' waiting for a core
  bool pause = false;  ///< pauses of the caller
};

/// Returns a sentence about the largest cost of the runners' time that the verdict does not mention. Empty if this cost
/// is small, or the verdict names no single cause. The share in the sentence is a share of the time of all runners that
/// there may be.
std::string next_cause(const Report& report, const MentionedCauses& told);

}  // namespace penstock::detail::runtime
