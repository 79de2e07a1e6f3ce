// Whether two builds, machines or pipelines differ in speed, by what bench wrote of each.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bench/run.hpp"
#include "bench/signed_ranks.hpp"
#include "console/output.hpp"

namespace penstock::cli {

/// What the rounds of one setting say.
struct Comparison {
  Setting setting = {};
  std::size_t rounds = 0;    ///< pairs
  Interval ratio = {};       ///< the second one's rate, of the first one's
  bool in_turns = false;     ///< the two were measured by turns
  bool same_results = true;  ///< hashes, where both have them, are the same
  bool differs() const noexcept { return ratio.low > 1 || ratio.high < 1; }
};

constexpr double compare_confidence = 0.99;

/// What there is to say of the settings that both have.
struct Compared {
  std::vector<Comparison> comparisons = {};
  std::vector<std::pair<Setting, std::size_t>> too_few = {};  ///< those with too few rounds, and how many
};

/// @throws UsageError where a file is no result of bench, the two have no setting in common, or too few rounds of each.
Compared compare_results(const std::string& first, const std::string& second);
std::string compare_text(const Compared& compared);
Json compare_json(const Compared& compared);

}  // namespace penstock::cli
