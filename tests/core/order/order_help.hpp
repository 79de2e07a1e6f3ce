// SPDX-License-Identifier: Apache-2.0
// What tests of orders share.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/help.hpp"

namespace help {

/// A whole epoch's source indices.
inline std::vector<std::uint64_t> order_of(const ps::Pipeline& p, std::uint64_t epoch = 0) {
  std::vector<std::uint64_t> out(p.size());
  p.fill(epoch, 0, out);
  return out;
}
inline std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> v) {
  std::ranges::sort(v);
  return v;
}
inline std::vector<std::uint64_t> numbers(std::uint64_t n) {
  std::vector<std::uint64_t> v(n);
  std::iota(v.begin(), v.end(), std::uint64_t{0});
  return v;
}
inline ps::Pipeline records(std::uint64_t n) { return ps::from(Records{.count = n}); }

/// Positions asked for one by one, in random order, by several threads, together with whole epochs of their neighbours:
/// true when all agree with the epoch read at once.
inline bool same_in_any_access(const ps::Pipeline& p, std::uint64_t epochs, std::uint64_t asked_each) {
  std::vector<std::vector<std::uint64_t>> whole;
  for (std::uint64_t e = 0; e < epochs; ++e) whole.push_back(order_of(p, e));
  std::atomic<std::uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < asked_each; ++i) {
        const std::uint64_t r = mix(t * 1'000'003 + i), epoch = r % epochs, first = (r >> 20) % p.size();
        std::vector<std::uint64_t> part(std::min<std::uint64_t>(1 + (r >> 50) % 40, p.size() - first));
        p.fill(epoch, first, part);
        const auto expected = whole[epoch].begin() + static_cast<std::ptrdiff_t>(first);
        if (!std::equal(part.begin(), part.end(), expected)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  return wrong == 0;
}

/// True when counts agree with the expected ones as chance lets them: chi-square within 4 standard deviations of its
/// mean. What can't happen must not.
inline bool fits(const std::vector<std::uint64_t>& counts, const std::vector<double>& probabilities) {
  double total = 0, chi_square = 0, cells = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * probabilities[i], count = static_cast<double>(counts[i]);
    if (expected == 0 && count != 0) return false;
    if (expected == 0) continue;
    chi_square += (count - expected) * (count - expected) / expected;
    ++cells;
  }
  return chi_square <= cells - 1 + 4 * std::sqrt(2 * (cells - 1));
}

}  // namespace help
