// Whether two builds, machines or pipelines differ in speed, by what bench wrote of each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bench/run.hpp"
#include "bench/signed_ranks.hpp"
#include "output.hpp"

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

/// Of every setting that both have. @throws UsageError where a file is no result of bench, the two have no setting in
/// common, or too few rounds of it.
std::vector<Comparison> compare_results(const std::string& first, const std::string& second);
std::string compare_text(const std::vector<Comparison>& all);
Json compare_json(const std::vector<Comparison>& all);

}  // namespace penstock::cli
