// SPDX-License-Identifier: Apache-2.0
#include "order/alias_table.hpp"

namespace penstock::detail {

// Column i begins with weights[i] times the number of columns as its chances, and must end with exactly `sum_` chances.
// A column with too few is filled up from a column with enough, which may then have too few itself. With integers,
// nothing is left over.
AliasTable::AliasTable(std::span<const std::uint64_t> weights) {
  const std::size_t n = weights.size();
  for (const std::uint64_t weight : weights) sum_ += weight;
  columns_.resize(n);
  std::vector<unsigned __int128> rest(n);
  std::vector<std::uint64_t> too_little, enough;
  for (std::size_t i = 0; i < n; ++i) {
    rest[i] = static_cast<unsigned __int128>(weights[i]) * n;
    columns_[i] = {sum_, i};
    (rest[i] < sum_ ? too_little : enough).push_back(i);
  }
  while (!too_little.empty()) {
    const std::uint64_t low = too_little.back(), high = enough.back();
    too_little.pop_back();
    columns_[low] = {static_cast<std::uint64_t>(rest[low]), high};
    rest[high] -= sum_ - static_cast<std::uint64_t>(rest[low]);
    if (rest[high] < sum_) {
      enough.pop_back();
      too_little.push_back(high);
    }
  }
}

}  // namespace penstock::detail
