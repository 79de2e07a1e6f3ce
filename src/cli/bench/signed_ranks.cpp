// SPDX-License-Identifier: Apache-2.0
#include "bench/signed_ranks.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::cli {

namespace {

// Counts rank sums from 0 upwards while their probabilities add up to at most `tail`. Returns the number of these rank
// sums. A rank sum is the sum of the positive ranks; each of the n ranks is positive with probability 1/2.
std::size_t improbable_sums(std::size_t n, double tail) {
  const std::size_t most = n * (n + 1) / 2;
  std::vector<double> probability(most + 1, 0.0);
  probability[0] = 1;
  std::size_t reached = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    reached += rank;
    for (std::size_t sum = reached + 1; sum-- > 0;)
      probability[sum] = (probability[sum] + (sum >= rank ? probability[sum - rank] : 0)) / 2;
  }
  std::size_t count = 0;
  for (double sum = probability[0]; count <= most && sum <= tail; sum += probability[++count]) {
  }
  return count;
}

}  // namespace

std::optional<Interval> signed_rank_interval(const std::vector<double>& differences, double confidence) {
  const std::size_t n = differences.size();
  const std::size_t outside = improbable_sums(n, (1 - confidence) / 2);
  if (n == 0 || outside == 0) return std::nullopt;
  std::vector<double> averages;
  averages.reserve(n * (n + 1) / 2);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) averages.push_back((differences[i] + differences[j]) / 2);
  std::ranges::sort(averages);
  const std::size_t all = averages.size();
  return Interval{(averages[(all - 1) / 2] + averages[all / 2]) / 2, averages[outside - 1], averages[all - outside]};
}

}  // namespace penstock::cli
