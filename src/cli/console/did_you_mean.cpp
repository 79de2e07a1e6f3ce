// SPDX-License-Identifier: Apache-2.0
#include "console/did_you_mean.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace penstock::cli {

namespace {

// Returns the least number of edits that turn one word into the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, corner + (a[i - 1] == b[j - 1] ? 0 : 1)});
      corner = above;
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string> names) {
  constexpr std::size_t max_edits = 3;
  const auto nearest =
      std::ranges::min_element(names, {}, [&](const std::string& name) { return distance(name, word); });
  if (nearest == names.end() || distance(*nearest, word) > std::min(max_edits, nearest->size() / 2)) return {};
  return "; did you mean " + *nearest + "?";
}

}  // namespace penstock::cli
