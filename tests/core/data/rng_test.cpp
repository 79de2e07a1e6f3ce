// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"

#include <set>

#include "core/help.hpp"

using namespace help;

namespace {

// Philox 4x32-10 as in the paper, written down once more.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c[0], b = std::uint64_t{0xCD9E8D57} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(a)};
    k = {k[0] + 0x9E3779B9u, k[1] + 0xBB67AE85u};
  }
  return c;
}
std::uint32_t low(std::uint64_t v) { return static_cast<std::uint32_t>(v); }
std::uint32_t high(std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); }

}  // namespace

TEST_CASE("this test's Philox gives the published answers") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const std::uint32_t f = 0xffffffff;
  CHECK(philox({f, f, f, f}, {f, f}) == std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("an Rng is Philox keyed by seed, stage and place") {
  for (std::uint64_t t = 0; t < 200; ++t) {
    const std::uint64_t seed = mix(t), stage = mix(t + 1000);
    const ps::Place place{mix(t + 2000), mix(t + 3000), low(mix(t + 4000)), low(t % 9)};
    ps::Rng rng(seed, stage, place);
    const auto key = philox({low(stage), high(stage), low(place.epoch), high(place.epoch)}, {low(seed), high(seed)});
    for (std::uint32_t block = 0; block < 3; ++block) {
      const auto words = philox({low(place.position), high(place.position), place.child, (place.attempt << 24) + block},
                                {key[0], key[1]});
      for (const std::uint32_t word : words) REQUIRE(rng() == word);
    }
  }
}

TEST_CASE("each part of the key changes the numbers") {
  const ps::Place place{1, 2, 3, 4};
  const auto first = [](std::uint64_t seed, std::uint64_t stage, ps::Place p) { return ps::Rng(seed, stage, p).u64(); };
  std::set<std::uint64_t> seen{first(5, 6, place)};
  CHECK(seen.insert(first(7, 6, place)).second);
  CHECK(seen.insert(first(5 + (std::uint64_t{1} << 32), 6, place)).second);
  CHECK(seen.insert(first(5, 7, place)).second);
  CHECK(seen.insert(first(5, 6 + (std::uint64_t{1} << 32), place)).second);
  for (const ps::Place p :
       {ps::Place{2, 2, 3, 4}, ps::Place{1 + (std::uint64_t{1} << 32), 2, 3, 4}, ps::Place{1, 3, 3, 4},
        ps::Place{1, 2 + (std::uint64_t{1} << 32), 3, 4}, ps::Place{1, 2, 4, 4}, ps::Place{1, 2, 3, 5}})
    CHECK(seen.insert(first(5, 6, p)).second);
  CHECK(first(5, 6, place) == *seen.find(first(5, 6, place)));
}

TEST_CASE("below is uniform, and stays below") {
  ps::Rng rng(1, 2, {});
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1000003},
                                ~std::uint64_t{0}, (std::uint64_t{1} << 63) + 1})
    for (int i = 0; i < 1000; ++i) REQUIRE(rng.below(n) < n);
  for (const std::uint64_t n : {3u, 5u, 6u, 10u, 37u}) {
    std::vector<double> counts(n);
    const double draws = 20'000.0 * static_cast<double>(n);
    for (int i = 0; i < static_cast<int>(draws); ++i) counts[rng.below(n)] += 1;
    double chi = 0;
    for (const double c : counts) chi += (c - 20'000.0) * (c - 20'000.0) / 20'000.0;
    CAPTURE(n);
    CHECK(chi < static_cast<double>(n) + 6 * std::sqrt(2.0 * static_cast<double>(n)) + 20);
  }
  // With n = 3 * 2^62 a plain multiplication would give a third of the values twice as often as the others.
  const std::uint64_t n = std::uint64_t{3} << 62;
  std::uint64_t thirds[3] = {};
  for (int i = 0; i < 30'000; ++i) ++thirds[rng.below(n) % 3];
  for (const std::uint64_t t : thirds) CHECK(std::abs(static_cast<double>(t) - 10'000.0) < 600);
}

TEST_CASE("uniform and chance keep to their ranges") {
  ps::Rng rng(3, 4, {});
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double u = rng.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u;
    const double v = rng.uniform(-2.0, 3.0);
    REQUIRE(v >= -2.0);
    REQUIRE(v < 3.0);
    REQUIRE_FALSE(rng.chance(0));
    REQUIRE(rng.chance(1));
  }
  CHECK(sum / 100'000 == Approx(0.5).margin(0.005));
}

namespace {
// Stores the first draw of its stage.
struct Draws {
  std::string stage, field;
  std::string name() const { return stage; }
  ps::Schema schema(const ps::Schema& in) const { return in.with({field, ps::DType::u64, {}}); }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    *sample.emplace<std::uint64_t, 0>(field, {}).data() = context.rng().u64();
  }
};
std::uint64_t value(const ps::Pipeline& p, const char* field, std::uint64_t position) {
  return *p.at(position)[field].as<std::uint64_t, 0>().data();
}
}  // namespace

TEST_CASE("a stage of another name changes no other stage's draws") {
  const ps::Pipeline source = ps::from(Records{.count = 10});
  const ps::Pipeline without = source | ps::seed(3) | Draws{"a", "a"} | Draws{"a", "a2"};
  const ps::Pipeline with =
      source | ps::seed(3) | Draws{"b", "b"} | Draws{"a", "a"} | Draws{"c", "c"} | Draws{"a", "a2"};
  const ps::Pipeline other_seed = source | ps::seed(4) | Draws{"a", "a"};
  for (std::uint64_t i = 0; i < 10; ++i) {
    CHECK(value(without, "a", i) == value(with, "a", i));
    CHECK(value(without, "a2", i) == value(with, "a2", i));
    CHECK(value(with, "a", i) != value(with, "a2", i));  // same name: told apart by occurrence
    CHECK(value(with, "a", i) != value(with, "b", i));
    CHECK(value(with, "a", i) != value(other_seed, "a", i));
  }
  CHECK(value(with, "a", 0) != value(with, "a", 1));
}
