// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::detail {

/// Shares an endless sequence of draws among parts, in proportion to integer weights. The list of parts is halved again
/// and again, and each halving rounds by at most 1/2. So after any number of draws, each part's share is off by at most
/// ceil(log2(parts)) / 2 draws. If the number of draws is a multiple of the weights' sum, shares are exact. Immutable.
class Proportions {
 public:
  /// REQUIRES: the sum of `weights` is above 0 and at most 2^56.
  explicit Proportions(const std::vector<std::uint64_t>& weights) : before_{0} {
    for (const std::uint64_t weight : weights) before_.push_back(before_.back() + weight);
  }
  std::size_t parts() const noexcept { return before_.size() - 1; }

  /// Shares out the draws [begin, end). Calls f(part, first, last), in order, for each part that gets any of these
  /// draws. `first` is the number of draws that the part got before `begin`, and `last` the number that it got before
  /// `end`. REQUIRES: `end` is below 2^63.
  template <class F>
  void share(std::uint64_t begin, std::uint64_t end, F f) const {
    share(0, parts(), begin, end, f);
  }

 private:
  // The parts' draws must add up to all draws. A part's number of draws must not decrease when the number of all draws
  // grows. Halving ensures both. If each part's share were rounded by itself, the sum could be wrong.
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

  std::vector<std::uint64_t> before_;  ///< for each part, the sum of the weights before it; then the sum of all weights
};

}  // namespace penstock::detail
