// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include <penstock/testing/report.hpp>

namespace penstock_test {

// True when the suite says that this contract was broken.
inline bool found(const penstock::testing::Report& report, std::string_view contract) {
  return std::ranges::any_of(report.findings(), [&](const auto& finding) { return finding.contract == contract; });
}

// True where this contract is found, and no other one.
inline bool found_only(const penstock::testing::Report& report, std::string_view contract) {
  return !report.findings().empty() &&
         std::ranges::all_of(report.findings(), [&](const auto& finding) { return finding.contract == contract; });
}

}  // namespace penstock_test
