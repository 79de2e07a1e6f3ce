// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <array>
#include <memory>
#include <numeric>

#include "core/help.hpp"
#include "order/bijection.hpp"

using namespace help;
using penstock::detail::Bijection;

namespace {

bool permutes(std::uint64_t n, std::uint64_t key) {
  const Bijection b(n, key);
  const auto flags = std::make_unique<bool[]>(n);
  bool* const seen = flags.get();  // no call for each, in a build that inlines little
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t j = b(i);
    if (j >= n || seen[j]) return false;
    seen[j] = true;
  }
  return true;
}

// Pearson's statistic of counts that should be equal.
double chi_square(const std::vector<std::uint64_t>& counts) {
  const double expected = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0})) /
                          static_cast<double>(counts.size());
  double sum = 0;
  for (const std::uint64_t c : counts)
    sum += (static_cast<double>(c) - expected) * (static_cast<double>(c) - expected) / expected;
  return sum;
}
// Upper bound that chance exceeds in about one of a million tests (Wilson-Hilferty). Keys are fixed, so it never
// flickers.
double bound(double freedom) {
  const double z = 4.75, c = 2.0 / (9.0 * freedom);
  return freedom * std::pow(1.0 - c + z * std::sqrt(c), 3.0);
}

}  // namespace

TEST_CASE("every size up to 4,096 is permuted") {
  for (std::uint64_t n = 0; n <= 4096; ++n) {
    if (!permutes(n, 1) || !permutes(n, 0x8000000000000001ull)) FAIL("not a bijection: n = " << n);
  }
  SUCCEED();
}

TEST_CASE("powers of two and their neighbours are permuted") {
  const unsigned top = scale() < 1 ? 20 : scale() > 1 ? 24 : 22;
  for (unsigned k = 1; k <= top; ++k) {
    const std::uint64_t two = std::uint64_t{1} << k;
    for (const std::uint64_t n : {two - 1, two, two + 1}) {
      if (!permutes(n, k)) FAIL("not a bijection: n = " << n);
    }
  }
  SUCCEED();
}

TEST_CASE("sizes near 2^63 stay inside") {
  for (const std::uint64_t n : {(std::uint64_t{1} << 63) - 1, (std::uint64_t{1} << 62) + 1, std::uint64_t{1} << 63}) {
    const Bijection b(n, 3);
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 0; i < 1000; ++i) out.push_back(b(i * (n / 1000)));
    for (const std::uint64_t v : out) CHECK(v < n);
    std::ranges::sort(out);
    CHECK(std::ranges::adjacent_find(out) == out.end());
  }
}

TEST_CASE("small permutations are uniform") {
  // n = 4: all 24 permutations are equally frequent.
  std::map<std::array<std::uint64_t, 4>, std::uint64_t> seen;
  for (std::uint64_t key = 0; key < 24'000; ++key) {
    const Bijection b(4, mix(key));
    ++seen[{b(0), b(1), b(2), b(3)}];
  }
  CHECK(seen.size() == 24);
  std::vector<std::uint64_t> counts;
  for (const auto& [permutation, count] : seen) counts.push_back(count);
  CHECK(chi_square(counts) < bound(23));
}

TEST_CASE("every position reaches every place equally often") {
  // Small tables, and just above them, where the network begins.
  for (const std::uint64_t n : {7u, 31u, 64u, 257u, 300u}) {
    CAPTURE(n);
    const std::uint64_t keys = 100 * n;
    std::vector<std::uint64_t> first(n), last(n), neighbours(n);
    for (std::uint64_t key = 0; key < keys; ++key) {
      const Bijection b(n, mix(key + 77));
      ++first[b(0)];
      ++last[b(n - 1)];
      ++neighbours[(b(1) + n - b(0)) % n];  // never 0
    }
    CHECK(chi_square(first) < bound(static_cast<double>(n - 1)));
    CHECK(chi_square(last) < bound(static_cast<double>(n - 1)));
    CHECK(neighbours[0] == 0);
    neighbours.erase(neighbours.begin());
    CHECK(chi_square(neighbours) < bound(static_cast<double>(n - 2)));
  }
}

TEST_CASE("other keys give other permutations") {
  for (const std::uint64_t n : {20u, 256u, 257u, 100'000u}) {
    CAPTURE(n);
    const Bijection a(n, 1), b(n, 2), again(n, 1);
    std::uint64_t same = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      same += a(i) == b(i);
      if (a(i) != again(i)) FAIL("the same key gave two permutations");
    }
    CHECK(same < 12);  // expected 1
  }
}
