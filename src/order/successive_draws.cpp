// SPDX-License-Identifier: Apache-2.0
#include "order/successive_draws.hpp"

#include <algorithm>
#include <tuple>

#include <penstock/extend/rng.hpp>

namespace penstock::detail {

namespace {

struct Candidate {
  double arrival;
  std::uint64_t record;
  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.arrival, a.record) < std::tie(b.arrival, b.record);
  }
};

// Returns an exponential variate by von Neumann's method (1951). The method needs no logarithm. The last bit of a
// logarithm depends on the C library. If a sequence of uniform numbers begins with u, its first descending run has an
// odd length with probability e^-u.
double exponential(Rng& rng) noexcept {
  for (double whole = 0;; ++whole) {
    const std::uint64_t first = rng.u64();
    bool odd = true;
    for (std::uint64_t last = first;; odd = !odd) {
      const std::uint64_t next = rng.u64();
      if (next >= last) break;
      last = next;
    }
    if (odd) return whole + (static_cast<double>(first) + 0.5) * 0x1p-64;
  }
}

}  // namespace

// Each record has an exponential clock that runs at the speed of its weight. The first clock to ring draws a record by
// weight, and the next clock to ring draws by weight among the others (Efraimidis and Spirakis, 2006).
std::vector<std::uint64_t> successive_draws(std::span<const double> weights, std::uint64_t count, std::uint64_t key) {
  std::vector<Candidate> candidates;
  for (std::uint64_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    Rng rng(key, 0x7375636365737369, Place{0, i, 0, 0});
    candidates.push_back({exponential(rng) / std::max(weights[i], 0x1p-1000), i});
  }
  const auto drawn = candidates.begin() + static_cast<std::ptrdiff_t>(count);
  if (drawn != candidates.end()) std::nth_element(candidates.begin(), drawn, candidates.end());
  std::sort(candidates.begin(), drawn);
  std::vector<std::uint64_t> records(count);
  std::transform(candidates.begin(), drawn, records.begin(), [](const Candidate& c) { return c.record; });
  return records;
}

}  // namespace penstock::detail
