#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <penstock/detail/export.hpp>

namespace penstock::testing {

/// One promise that a part did not keep.
struct Finding {
  std::string contract;  ///< the promise: "a record has the same value whenever it is read"
  std::string evidence;  ///< what was seen instead: "record 7: field \"x\" …"
};

/// What a suite saw of one part. It needs no test framework:
///
///     CHECK(report.text() == "");                        // Catch2
///     EXPECT_TRUE(report.passed()) << report.text();     // GoogleTest
///     if (!report.passed()) std::puts(report.text().c_str());
///
/// The first three findings of one contract are kept, the others counted. A value; immutable use from any thread.
class PENSTOCK_API Report {
 public:
  /// What a suite found in `checks` checks. For suites.
  Report(std::vector<Finding> findings, std::uint64_t checks) : findings_(std::move(findings)), checks_(checks) {}

  /// True when nothing was found, and something was looked at.
  bool passed() const noexcept { return findings_.empty() && checks_ > 0; }
  /// What was found, in the order of the contracts.
  const std::vector<Finding>& findings() const noexcept { return findings_; }
  /// How often a promise was held against what happened.
  std::uint64_t checks() const noexcept { return checks_; }
  /// A line for each finding, "contract: evidence"; empty when the part passed.
  std::string text() const;

 private:
  std::vector<Finding> findings_;
  std::uint64_t checks_;
};

}  // namespace penstock::testing
