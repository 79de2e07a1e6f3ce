// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/report.hpp>

namespace penstock::detail::runtime {

/// What a verdict mentions in addition to what bounds the run.
struct SaidElsewhere {
  bool delay = false;  ///< runners' waiting for a core
  bool pause = false;  ///< pauses of the caller
};

/// Returns a sentence about what else cost runners most of their time, apart from what the verdict mentions. Empty if
/// that is little, or the verdict names no single cause. Shares are of the time of all runners up to the limit.
std::string next_cause(const Report& report, const SaidElsewhere& told);

}  // namespace penstock::detail::runtime
