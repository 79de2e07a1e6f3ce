// SPDX-License-Identifier: Apache-2.0
#include "ring/policy.hpp"

#include <numeric>

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {
std::vector<BadSample> bad_rows(const std::vector<std::uint64_t>& rows, std::uint64_t fatal = ~std::uint64_t{0}) {
  std::vector<BadSample> out;
  for (const std::uint64_t r : rows)
    out.push_back({r, ps::Error(ps::Errc::corrupt, "row " + std::to_string(r)).with_index(100 + r), r == fatal});
  return out;
}
}  // namespace

TEST_CASE("the first fatal error in order is thrown, whenever it was reported") {
  BadSampleLedger ledger({});
  auto bad = bad_rows({7, 3, 5, 4}, 5);
  bad[3].fatal = true;
  const auto error = error_of([&] { ledger.account(bad, 0); });
  REQUIRE(error);
  CHECK(error->cause() == "row 4");
  CHECK(ledger.acted() == 0);  // a batch that is not delivered does not count
}

TEST_CASE("max_count ends the run at exactly the sample that was one too many") {
  BadSampleLedger ledger({.policy = ps::OnError::mask, .max_count = 3});
  auto two = bad_rows({5, 1});
  ledger.account(two, 0);
  CHECK(ledger.acted() == 2);
  auto one = bad_rows({0});
  ledger.account(one, 10);
  CHECK(ledger.acted() == 3);
  auto more = bad_rows({9, 2, 4});
  const auto error = error_of([&] { ledger.account(more, 20); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::quota_exceeded);
  CHECK(*error->index() == 102);
  CHECK(error->cause().find("4 bad samples in 23") != std::string::npos);
  CHECK(error->cause().find("row 2") != std::string::npos);
}

TEST_CASE("max_share counts from 1,000 samples on") {
  BadSampleLedger ledger({.policy = ps::OnError::mask, .max_share = 0.01});
  auto many = bad_rows({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  ledger.account(many, 0);  // 10 of 10: too early to tell
  auto late = bad_rows({8});
  ledger.account(late, 990);  // the 999th
  CHECK(ledger.acted() == 11);
  auto thousandth = bad_rows({99});
  CHECK_NOTHROW(ledger.account(thousandth, 1100));  // 12 of 1,200 is exactly the share
  auto over = bad_rows({98});
  CHECK(error_of([&] { ledger.account(over, 1200); })->code() == ps::Errc::quota_exceeded);
}

TEST_CASE("a ledger goes on where it was resumed, and keeps the first messages") {
  BadSampleLedger ledger({.policy = ps::OnError::mask, .max_count = 30});
  ledger.resume(29);
  auto one = bad_rows({1});
  ledger.account(one, 0);
  CHECK(ledger.acted() == 30);
  auto next = bad_rows({1});
  CHECK(error_of([&] { ledger.account(next, 0); })->code() == ps::Errc::quota_exceeded);
  BadSampleLedger talkative({.policy = ps::OnError::mask});
  for (int i = 0; i < 5; ++i) {
    auto some = bad_rows({1, 2, 3, 4, 5});
    talkative.account(some, 0);
  }
  CHECK(talkative.acted() == 25);
  CHECK(talkative.messages().size() == 5);  // each of them once
  std::vector<std::uint64_t> many(20);
  std::iota(many.begin(), many.end(), 10);
  auto more = bad_rows(many);
  talkative.account(more, 0);
  CHECK(talkative.messages().size() == 10);
  CHECK(talkative.acted_here() == 45);
  CHECK(ledger.acted_here() == 1);
}
