// SPDX-License-Identifier: Apache-2.0
// Compares the speed of two builds, machines or pipelines, from bench's results of each.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bench/run.hpp"
#include "bench/signed_ranks.hpp"
#include "console/output.hpp"

namespace penstock::cli {

/// The comparison of the rounds of one setting.
struct Comparison {
  Setting setting = {};
  std::size_t rounds = 0;    ///< number of pairs of rounds
  Interval ratio = {};       ///< the second result's rate divided by the first one's
  bool in_turns = false;     ///< the two results were measured in turns
  bool same_results = true;  ///< no pair has two different hashes; rounds without a hash don't count
  bool differs() const noexcept { return ratio.low > 1 || ratio.high < 1; }
};

constexpr double compare_confidence = 0.99;

/// The comparison of the settings that both results have.
struct ResultComparison {
  std::vector<Comparison> comparisons = {};
  std::vector<std::pair<Setting, std::size_t>> too_few = {};  ///< settings with too few rounds, and the number of
                                                              ///< rounds in the result that has fewer
};

/// @throws UsageError if a file is not a result of bench, the two have no setting in common, or each common setting has
/// too few rounds.
ResultComparison compare_results(const std::string& first, const std::string& second);
std::string compare_text(const ResultComparison& compared);
Json compare_json(const ResultComparison& compared);

}  // namespace penstock::cli
