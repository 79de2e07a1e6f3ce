// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::detail {

/// An endless sequence of draws that is shared out among parts by integer weights. After any number of draws, the error
/// of each part's share is at most 1/2 for each halving of the parts, together half of log2(parts) rounded up. After a
/// multiple of the weights' sum, shares are exact. Immutable.
class Proportions {
 public:
  /// REQUIRES: the sum of `weights` is above 0 and at most 2^56.
  explicit Proportions(const std::vector<std::uint64_t>& weights) : before_{0} {
    for (const std::uint64_t weight : weights) before_.push_back(before_.back() + weight);
  }
  std::size_t parts() const noexcept { return before_.size() - 1; }

  /// Shares out the draws [begin, end). Calls f(part, first, last) in order for each part that has some of them. For
  /// the part these are its own draws [first, last). REQUIRES: `end` is below 2^63.
  template <class F>
  void share(std::uint64_t begin, std::uint64_t end, F f) const {
    share(0, parts(), begin, end, f);
  }

 private:
  // With halving, the numbers of both halves never decrease. Rounding each part's share by itself would not ensure
  // that.
  template <class F>
  void share(std::size_t low, std::size_t high, std::uint64_t begin, std::uint64_t end, F& f) const {
    if (begin == end) return;
    if (high - low == 1) return f(low, begin, end);
    const std::size_t middle = low + (high - low) / 2;
    const std::uint64_t left = before_[middle] - before_[low], both = before_[high] - before_[low];
    const auto rounded = [&](std::uint64_t draws) {
      return static_cast<std::uint64_t>((static_cast<unsigned __int128>(draws) * left * 2 + both) / (2 * both));
    };
    const std::uint64_t left_begin = rounded(begin), left_end = rounded(end);
    share(low, middle, left_begin, left_end, f);
    share(middle, high, begin - left_begin, end - left_end, f);
  }

  std::vector<std::uint64_t> before_;  ///< sums of the weights before each part, and of all
};

}  // namespace penstock::detail
