// SPDX-License-Identifier: Apache-2.0
// Of long lists a share is tried, never nothing.
#include "support/share.hpp"

#include <cstdlib>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"

using penstock_test::Share;

namespace {

// Which of 400 cases are tried.
std::vector<int> drawn(const std::string& list, const char* draw) {
  ::setenv("PENSTOCK_DRAW", draw, 1);
  Share share(list);
  std::vector<int> tried;
  for (int i = 0; i < 400; ++i)
    if (share.has_next()) tried.push_back(i);
  return tried;
}

}  // namespace

TEST_CASE("one case of every four is tried, and in time each") {
  ::unsetenv("PENSTOCK_FAULTS");
  std::set<int> ever;
  for (int draw = 0; draw < 100; ++draw) {
    const std::vector<int> tried = drawn("list", std::to_string(draw).c_str());
    REQUIRE(tried.size() == 100);
    for (int i = 0; i < 100; ++i) REQUIRE(tried[static_cast<std::size_t>(i)] / 4 == i);
    ever.insert(tried.begin(), tried.end());
  }
  CHECK(ever.size() == 400);
  CHECK(drawn("list", "a") == drawn("list", "a"));
  CHECK(drawn("list", "a") != drawn("list", "b"));
  CHECK(drawn("list", "a") != drawn("other", "a"));
  CHECK(Share("list").least_of(7) == 1);
}

TEST_CASE("with PENSTOCK_FAULTS every case is tried, and a word it does not know is refused") {
  ::setenv("PENSTOCK_FAULTS", "each", 1);
  CHECK(drawn("list", "a").size() == 400);
  CHECK(Share("list").least_of(7) == 7);
  CHECK_FALSE(penstock_test::all_faults());
  ::setenv("PENSTOCK_FAULTS", "all", 1);
  CHECK(penstock_test::all_faults());
  ::setenv("PENSTOCK_FAULTS", "1", 1);
  CHECK_THROWS_AS(Share("list"), std::invalid_argument);
  ::unsetenv("PENSTOCK_FAULTS");
}
