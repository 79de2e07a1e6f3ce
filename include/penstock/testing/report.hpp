// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>

namespace penstock::testing {

/// One promise that the tested part of a pipeline did not keep.
struct Finding {
  std::string contract;  ///< the promise: "a record has the same value whenever it is read"
  std::string evidence;  ///< what happened instead: "record 7: field \"x\" …"
};

/// What a suite found out about the part that it tested. A Report needs no test framework:
///
///     CHECK(report.text() == "");                        // Catch2
///     EXPECT_TRUE(report.passed()) << report.text();     // GoogleTest
///     if (!report.passed()) std::puts(report.text().c_str());
///
/// The first three findings per contract are kept; other findings are only counted. A value; any thread may read it.
class PENSTOCK_API Report {
 public:
  /// Makes a report of a suite's findings and its number of checks. For suites.
  Report(std::vector<Finding> findings, std::uint64_t checks) : findings_(std::move(findings)), checks_(checks) {}

  /// Whether there are no findings, and at least one check.
  bool passed() const noexcept { return findings_.empty() && checks_ > 0; }
  /// The findings, in the order of the contracts.
  const std::vector<Finding>& findings() const noexcept { return findings_; }
  /// Number of checks: comparisons of what a contract promises with what happened.
  std::uint64_t checks() const noexcept { return checks_; }
  /// Returns a line per finding, "contract: evidence". Without findings, returns "" if there were checks, and "nothing
  /// was checked" if there were none.
  std::string text() const;

 private:
  std::vector<Finding> findings_;
  std::uint64_t checks_;
};

}  // namespace penstock::testing
