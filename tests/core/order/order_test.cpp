// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <set>

#include "core/order/order_help.hpp"

using namespace help;

TEST_CASE("without an order the records come as they are") { CHECK(order_of(records(10), 3) == numbers(10)); }

TEST_CASE("a shuffle holds every record once, differently in every epoch") {
  for (const std::uint64_t n : {1u, 2u, 100u, 256u, 257u, 5000u}) {
    CAPTURE(n);
    const ps::Pipeline p = records(n) | ps::shuffle({.seed = 7});
    std::set<std::vector<std::uint64_t>> seen;
    for (std::uint64_t e = 0; e < 5; ++e) {
      const auto order = order_of(p, e);
      CHECK(sorted(order) == numbers(n));
      CHECK(order == order_of(p, e));
      seen.insert(order);
    }
    if (n >= 100) CHECK(seen.size() == 5);
    if (n >= 100) CHECK_FALSE(order_of(p) == order_of(records(n) | ps::shuffle({.seed = 8})));
  }
}

TEST_CASE("an order read in pieces is the same order") {
  const ps::Pipeline p = records(1000) | ps::shuffle() | ps::repeat(3) | ps::skip(5);
  const auto whole = order_of(p, 2);
  for (std::uint64_t first = 0; first < p.size();) {
    const std::uint64_t n = std::min<std::uint64_t>(1 + mix(first) % 400, p.size() - first);
    std::vector<std::uint64_t> part(n);
    p.fill(2, first, part);
    CHECK(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
    first += n;
  }
  std::vector<std::uint64_t> two(2);
  CHECK(error_of([&] { p.fill(0, p.size() - 1, two); })->code() == ps::Errc::invalid_argument);
  CHECK(error_of([&] { p.fill(0, ~std::uint64_t{0}, two); })->code() == ps::Errc::invalid_argument);
}

TEST_CASE("take, skip and select") {
  CHECK(order_of(records(5) | ps::take(3)) == std::vector<std::uint64_t>{0, 1, 2});
  CHECK(order_of(records(5) | ps::take(9)) == numbers(5));
  CHECK(order_of(records(5) | ps::take(0)).empty());
  CHECK(order_of(records(5) | ps::skip(3)) == std::vector<std::uint64_t>{3, 4});
  CHECK(order_of(records(5) | ps::skip(9)).empty());
  CHECK(order_of(records(5) | ps::select({4, 0, 4})) == std::vector<std::uint64_t>{4, 0, 4});
  CHECK(order_of(records(5) | ps::select({})).empty());
  CHECK((records(0) | ps::shuffle() | ps::take(3)).size() == 0);
}

TEST_CASE("a selection beyond the end is refused where it joins") {
  const auto error = error_of([] { (void)(records(5) | ps::select({0, 5})); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::invalid_argument);
  CHECK(error->stage() == "select");
  CHECK(error->cause().find('5') != std::string::npos);
  CHECK(error_of([] { (void)(records(0) | ps::select({0})); }));
  CHECK(error_of([] { (void)(records(9) | ps::take(3) | ps::select({3})); }));
}

TEST_CASE("repeat: a shuffle before it shuffles each time anew") {
  const ps::Pipeline p = records(50) | ps::shuffle() | ps::repeat(3);
  const auto order = order_of(p);
  REQUIRE(order.size() == 150);
  const auto part = [&](int i) {
    return std::vector<std::uint64_t>(order.begin() + 50 * i, order.begin() + 50 * (i + 1));
  };
  for (int i = 0; i < 3; ++i) CHECK(sorted(part(i)) == numbers(50));
  CHECK_FALSE(part(0) == part(1));
  CHECK_FALSE(part(1) == part(2));
  // No epoch begins where another one went on.
  const auto next = order_of(p, 1);
  CHECK_FALSE(std::vector<std::uint64_t>(next.begin(), next.begin() + 50) == part(1));
  // A shuffle after it mixes all of it.
  const auto mixed = order_of(records(50) | ps::repeat(3) | ps::shuffle());
  std::map<std::uint64_t, int> times;
  for (const std::uint64_t i : mixed) ++times[i];
  CHECK(times.size() == 50);
  for (const auto& [index, count] : times) CHECK(count == 3);
  CHECK_FALSE(sorted({mixed.begin(), mixed.begin() + 50}) == numbers(50));
  CHECK(error_of([] { (void)ps::repeat(0); })->code() == ps::Errc::invalid_argument);
  CHECK(error_of([] { (void)(records(3) | ps::repeat(std::uint64_t{1} << 62)); })->code() ==
        ps::Errc::invalid_argument);
}

TEST_CASE("parts of a split are disjoint and hold everything") {
  for (const auto by : {ps::SplitOptions::By::index, ps::SplitOptions::By::key}) {
    for (const std::uint64_t n : {0u, 1u, 2u, 3u, 10u, 97u, 1000u}) {
      for (const std::vector<double>& shares :
           {std::vector<double>{0.9, 0.1}, {1, 1, 1}, {1, 0, 2}, {5}, {0.1, 0.2, 0.3, 0.4}}) {
        CAPTURE(static_cast<int>(by), n, shares.size());
        std::vector<std::uint64_t> all;
        for (std::uint64_t part = 0; part < shares.size(); ++part) {
          const ps::Pipeline p = records(n) | ps::split({.shares = shares, .part = part, .by = by});
          const auto members = order_of(p);
          CHECK(members == order_of(p, 5));  // the same in every epoch
          if (shares[part] == 0) CHECK(members.empty());
          all.insert(all.end(), members.begin(), members.end());
        }
        CHECK(sorted(all) == numbers(n));
      }
    }
  }
}

TEST_CASE("a split by index has exact sizes, salt makes another one, the seed does not") {
  const auto part = [](std::uint64_t salt, std::uint64_t seed) {
    return order_of(records(1000) | ps::seed(seed) | ps::split({.shares = {0.8, 0.2}, .part = 1, .salt = salt}));
  };
  CHECK(part(0, 0).size() == 200);
  CHECK(part(0, 0) == part(0, 9));
  CHECK_FALSE(sorted(part(0, 0)) == sorted(part(1, 0)));
}

TEST_CASE("a split by key leaves records where they are when others come") {
  const auto part = [](std::uint64_t n) {
    return order_of(records(n) | ps::split({.shares = {0.7, 0.3}, .part = 1, .by = ps::SplitOptions::By::key}));
  };
  const auto small = part(1000), large = part(3000);
  CHECK(small.size() > 230);
  CHECK(small.size() < 370);
  CHECK(std::vector<std::uint64_t>(large.begin(), large.begin() + static_cast<std::ptrdiff_t>(small.size())) == small);
}

TEST_CASE("splits that make no sense are refused") {
  const auto refused = [](ps::SplitOptions o) {
    const auto e = error_of([&] { (void)ps::split(o); });
    return e && e->code() == ps::Errc::invalid_argument && e->stage() == "split";
  };
  CHECK(refused({.shares = {}}));
  CHECK(refused({.shares = {0, 0}}));
  CHECK(refused({.shares = {1, -1}}));
  CHECK(refused({.shares = {1, std::nan("")}}));
  CHECK(refused({.shares = {1, 1}, .part = 2}));
  const auto late = error_of([] { (void)(records(9) | ps::shuffle() | ps::split({.by = ps::SplitOptions::By::key})); });
  REQUIRE(late);
  CHECK(late->stage() == "split");
  // A part would have other records in each epoch: what is held out would be trained on.
  for (const ps::Stage& changing : {ps::shuffle(), ps::draw_weighted({.weights = std::vector<double>(9, 1.0)})}) {
    const auto leaking = error_of([&] { (void)(records(9) | changing | ps::split({})); });
    REQUIRE(leaking);
    CHECK(leaking->stage() == "split");
    CHECK(leaking->cause().find("another record in each epoch") != std::string::npos);
  }
}

TEST_CASE("orders compose like lists") {
  // The model of an order is the list itself; shuffle and split are taken as they come, as permutations of it.
  for (std::uint64_t t = 0; t < 300; ++t) {
    std::uint64_t n = 1 + mix(t) % 40;
    ps::Pipeline p = records(n) | ps::seed(t);
    std::vector<std::vector<std::uint64_t>> model(6, numbers(n));  // one per epoch; repeat needs later ones
    std::string words;
    std::uint64_t epochs = 6;
    for (std::uint64_t s = 0; s < 1 + mix(t * 7 + 1) % 4; ++s) {
      const std::uint64_t r = mix(t * 100 + s), kind = r % 4, arg = (r >> 8) % (n + 3);
      const auto apply = [&](auto f) {
        for (auto& list : model) list = f(list);
      };
      if (kind == 0) {
        p = p | ps::take(arg);
        words += " take " + std::to_string(arg);
        apply([&](auto l) { return l.resize(std::min<std::size_t>(l.size(), arg)), l; });
      } else if (kind == 1) {
        p = p | ps::skip(arg);
        words += " skip " + std::to_string(arg);
        apply([&](auto l) {
          return l.erase(l.begin(), l.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(l.size(), arg))), l;
        });
      } else if (kind == 2 && n != 0) {
        std::vector<std::uint64_t> at;
        for (std::uint64_t i = 0; i < arg; ++i) at.push_back(mix(r + i) % n);
        p = p | ps::select(at);
        words += " select " + std::to_string(arg);
        apply([&](auto l) {
          std::vector<std::uint64_t> out;
          for (const std::uint64_t i : at) out.push_back(l[i]);
          return out;
        });
      } else if (kind == 3 && epochs >= 2) {
        p = p | ps::repeat(2);
        words += " repeat 2";
        epochs /= 2;
        std::vector<std::vector<std::uint64_t>> joined;
        for (std::uint64_t e = 0; e < epochs; ++e) {
          joined.push_back(model[2 * e]);
          joined.back().insert(joined.back().end(), model[2 * e + 1].begin(), model[2 * e + 1].end());
        }
        model = joined;
      }
      n = p.size();
      REQUIRE(n == model[0].size());
    }
    CAPTURE(t, words);
    for (std::uint64_t e = 0; e < epochs; ++e) REQUIRE(order_of(p, e) == model[e]);
  }
}

TEST_CASE("an order that leaves its range is refused by name, before anything is read there") {
  struct Beyond {
    std::uint64_t size(std::uint64_t n) const { return n; }
    std::string name() const { return "beyond"; }
    std::string describe() const { return ""; }
    void fill(std::uint64_t, std::uint64_t n, std::span<ps::OrderPoint> points) const {
      for (ps::OrderPoint& point : points)
        if (point.position == 7) point.position = n;
    }
  };
  for (const bool before : {false, true}) {
    const ps::Pipeline p = before ? records(10) | Beyond{} | ps::shuffle() : records(10) | ps::shuffle() | Beyond{};
    const auto error = error_of([&] { (void)order_of(p); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::invalid_argument);
    CHECK(error->stage() == "beyond");
    CHECK(error->cause().find("position 10 of 10") != std::string::npos);
  }
}

TEST_CASE("one seed a pipeline") {
  const auto error = error_of([] { (void)(records(9) | ps::shuffle({.seed = 1}) | ps::seed(2)); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::invalid_argument);
  CHECK((records(9) | ps::shuffle({.seed = 1}) | ps::seed(1)).seed() == 1);
  CHECK((records(9) | ps::shuffle()).seed() == 0);
  // Two shuffles of one pipeline differ.
  CHECK_FALSE(order_of(records(200) | ps::shuffle() | ps::shuffle()) == order_of(records(200) | ps::shuffle()));
}
