// SPDX-License-Identifier: Apache-2.0
// Items that are shared as wholes.
#include <penstock/rank.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <penstock/error.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

TEST_CASE("runs of items follow one another, and none is longer than the mean by more than an item") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> sizes(random() % 40);
    for (std::uint64_t& size : sizes) size = random() % 4 == 0 ? 0 : random() % 1'000'000;
    const int world = 1 + static_cast<int>(random() % 12);
    const std::uint64_t all = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
    const std::uint64_t largest = sizes.empty() ? 0 : *std::ranges::max_element(sizes);
    std::size_t next = 0;
    for (int rank = 0; rank < world; ++rank) {
      const ItemRange run = Rank{.rank = rank, .world = world}.items_of(sizes);
      if (run.count == 0) continue;
      REQUIRE(run.first == next);
      next += run.count;
      const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(run.first);
      const std::uint64_t own =
          std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(run.count), std::uint64_t{0});
      REQUIRE(own * static_cast<std::uint64_t>(world) <=
              all + (largest + sizes.size()) * static_cast<std::uint64_t>(world));
    }
    REQUIRE(next == sizes.size());
  }
}

TEST_CASE("as many equal items as ranks are one for each, and sizes may be as large as they can be") {
  const std::vector<std::uint64_t> equal(7, 0), huge(5, std::numeric_limits<std::uint64_t>::max());
  for (int rank = 0; rank < 7; ++rank) {
    const ItemRange run = Rank{.rank = rank, .world = 7}.items_of(equal);
    CHECK(run.first == static_cast<std::size_t>(rank));
    CHECK(run.count == 1);
  }
  for (int rank = 0; rank < 5; ++rank) CHECK(Rank{.rank = rank, .world = 5}.items_of(huge).count == 1);
  CHECK(Rank{}.items_of(huge).count == 5);
  CHECK(code_of([&] { static_cast<void>(Rank{.rank = 2, .world = 2}.items_of(equal)); }) == Errc::invalid_argument);
  CHECK(code_of([&] { static_cast<void>(Rank{.rank = -1, .world = 2}.items_of(equal)); }) == Errc::invalid_argument);
}

}  // namespace PENSTOCK_TEST_FILE
