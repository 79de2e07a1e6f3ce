// Whether paired measurements differ, whatever they are distributed like.
#pragma once

#include <optional>
#include <vector>

namespace penstock::cli {

struct Interval {
  double middle, low, high;
};

/// The Hodges-Lehmann estimate of where the differences lie, and the interval around it that Wilcoxon's signed-rank
/// test does not refuse: it is exact for differences that are as likely too large as too small, and single wild ones
/// don't move it. None where there are too few for that confidence: below 8 for 0.99.
std::optional<Interval> signed_rank_interval(const std::vector<double>& differences, double confidence);

}  // namespace penstock::cli
