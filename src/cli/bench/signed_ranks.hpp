// SPDX-License-Identifier: Apache-2.0
// Compares paired measurements without the assumption that they have a normal distribution.
#pragma once

#include <optional>
#include <vector>

namespace penstock::cli {

struct Interval {
  double middle, low, high;
};

/// Returns the Hodges-Lehmann estimate of the differences' centre, and the interval of the centres that Wilcoxon's
/// signed-rank test does not reject. The interval is exact for symmetric differences. If there are many differences, a
/// single outlier hardly moves it. Returns nothing if there are too few differences for `confidence`: fewer than 8 for
/// 0.99.
std::optional<Interval> signed_rank_interval(const std::vector<double>& differences, double confidence);

}  // namespace penstock::cli
