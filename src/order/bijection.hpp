// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace penstock::detail {

/// A pseudo-random permutation of [0, n) that is computed, not stored. `b(i)` costs tens of nanoseconds and no memory.
///
/// If n is at most `table_limit`, the permutation is a shuffled table inside the object, so that small sets are
/// permuted uniformly. For a larger n it is an unbalanced Feistel network over the smallest power of two that is at
/// least n. The network is applied again until the result is below n. Immutable.
class Bijection {
 public:
  static constexpr std::uint64_t table_limit = 256;

  Bijection(std::uint64_t n, std::uint64_t key) noexcept;
  /// REQUIRES: i < n.
  std::uint64_t operator()(std::uint64_t i) const noexcept {
    if (n_ <= table_limit) return table_[i];
    do i = encrypt(i);
    while (i >= n_);
    return i;
  }

 private:
  static constexpr unsigned rounds = 8;
  std::uint64_t encrypt(std::uint64_t i) const noexcept;

  std::uint64_t n_;
  unsigned low_bits_ = 0;
  std::uint64_t low_mask_ = 0, high_mask_ = 0;
  // NOLINTBEGIN(readability-identifier-naming): the check takes members of a private union for public ones
  union {
    std::array<std::uint64_t, rounds> keys_;
    std::array<std::uint8_t, table_limit> table_;
  };
  // NOLINTEND(readability-identifier-naming)
};

}  // namespace penstock::detail
