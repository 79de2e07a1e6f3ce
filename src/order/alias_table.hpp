// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <penstock/extend/rng.hpp>

namespace penstock::detail {

/// Draws i with probability weights[i] / sum, exactly, in constant time (Walker's alias method, in integers).
/// Immutable.
class AliasTable {
 public:
  /// REQUIRES: the sum of `weights` is above 0 and below 2^63.
  explicit AliasTable(std::span<const std::uint64_t> weights);
  std::uint64_t operator()(Rng& rng) const noexcept {
    const std::uint64_t i = rng.below(columns_.size());
    return rng.below(sum_) < columns_[i].own ? i : columns_[i].other;
  }

 private:
  struct Column {
    std::uint64_t own;  ///< how many of the column's `sum_` chances choose the column itself; the rest choose `other`
    std::uint64_t other;
  };
  std::vector<Column> columns_;
  std::uint64_t sum_ = 0;
};

}  // namespace penstock::detail
