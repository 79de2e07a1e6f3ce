// SPDX-License-Identifier: Apache-2.0
// Draws by weight and by class: their laws, and that they are functions of (seed, epoch, position).
#include "support/catch.hpp"

#include <limits>
#include <map>
#include <ranges>
#include <set>

#include <penstock/sources/memory.hpp>

#include "core/order/order_help.hpp"

using namespace help;

namespace {

std::vector<double> normalised(std::vector<double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& w : weights) w /= sum;
  return weights;
}

std::vector<std::uint64_t> counts_of(const std::vector<std::uint64_t>& order, std::uint64_t n) {
  std::vector<std::uint64_t> counts(n);
  for (const std::uint64_t i : order) ++counts.at(i);
  return counts;
}

// Labels of `sizes[c]` records of class 10 * c - 10 each, mixed.
std::vector<std::int64_t> labels_with(const std::vector<std::uint64_t>& sizes) {
  std::vector<std::int64_t> labels;
  for (std::size_t c = 0; c < sizes.size(); ++c)
    labels.insert(labels.end(), sizes[c], 10 * static_cast<std::int64_t>(c) - 10);
  for (std::size_t i = labels.size(); i > 1; --i) std::swap(labels[i - 1], labels[mix(i) % i]);
  return labels;
}

bool refused(const std::function<void()>& f, const std::string& stage, const std::string& word) {
  const auto error = error_of(f);
  return error && error->code() == ps::Errc::invalid_argument && error->stage() == stage &&
         error->cause().find(word) != std::string::npos;
}

// Each class's records as they come, over the first epochs: every pass holds each once, and no two passes agree.
void check_passes(const std::vector<std::vector<std::uint64_t>>& epochs, const std::vector<std::int64_t>& labels) {
  std::map<std::int64_t, std::vector<std::uint64_t>> sequences, members;
  for (std::size_t i = 0; i < labels.size(); ++i) members[labels[i]].push_back(i);
  for (const auto& epoch : epochs)
    for (const std::uint64_t i : epoch) sequences[labels.at(i)].push_back(i);
  for (const auto& [label, sequence] : sequences) {
    CAPTURE(label);
    const std::size_t n = members[label].size();
    std::set<std::vector<std::uint64_t>> passes;
    std::size_t whole = 0;
    for (std::size_t at = 0; at < sequence.size(); at += n) {
      const std::vector<std::uint64_t> pass(
          sequence.begin() + static_cast<std::ptrdiff_t>(at),
          sequence.begin() + static_cast<std::ptrdiff_t>(std::min(at + n, sequence.size())));
      if (pass.size() == n) {
        REQUIRE(sorted(pass) == members[label]);
        passes.insert(pass);
        ++whole;
      } else {
        REQUIRE(std::set<std::uint64_t>(pass.begin(), pass.end()).size() == pass.size());
      }
    }
    if (n > 20) CHECK(passes.size() == whole);
  }
}

}  // namespace

TEST_CASE("draws with replacement follow their weights") {
  for (const std::vector<double>& weights : {std::vector<double>{1, 2, 3, 4},
                                             {1, 1, 1},
                                             {0, 5, 0, 1e-3, 2},
                                             {7},
                                             {1e300, 3e300, 1e300},
                                             {5e-324, 1e-323},
                                             {1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625}}) {
    const std::uint64_t n = weights.size();
    CAPTURE(n, weights[0]);
    const ps::Pipeline p = records(n) | ps::draw_weighted({.weights = weights, .count = 200'000, .seed = 5});
    std::vector<double> scaled_down = weights;
    const double largest = *std::ranges::max_element(weights);
    for (double& w : scaled_down) w /= largest;
    CHECK(fits(counts_of(order_of(p), n), normalised(scaled_down)));
    CHECK(fits(counts_of(order_of(p, 1), n), normalised(scaled_down)));
  }
  // Many weights, most of them small.
  std::vector<double> many;
  for (std::uint64_t i = 0; i < 500; ++i) many.push_back(i % 5 == 0 ? 0.0 : 1.0 + static_cast<double>(mix(i) % 1000));
  const ps::Pipeline p = records(500) | ps::draw_weighted({.weights = many, .count = 500'000});
  CHECK(fits(counts_of(order_of(p), 500), normalised(many)));
}

TEST_CASE("draws with replacement do not depend on each other") {
  const std::vector<double> weights{1, 2, 5};
  const ps::Pipeline p = records(3) | ps::draw_weighted({.weights = weights, .count = 100'000});
  const auto first = order_of(p), second = order_of(p, 1);
  std::vector<double> products;
  for (const double a : normalised(weights))
    for (const double b : normalised(weights)) products.push_back(a * b);
  std::vector<std::uint64_t> neighbours(9), epochs(9);
  for (std::size_t i = 0; i + 1 < first.size(); i += 2) ++neighbours[first[i] * 3 + first[i + 1]];
  for (std::size_t i = 0; i < first.size(); ++i) ++epochs[first[i] * 3 + second[i]];
  CHECK(fits(neighbours, products));
  CHECK(fits(epochs, products));
}

TEST_CASE("draws without replacement come in the order of successive draws by weight") {
  const std::vector<double> weights{1, 2, 0, 3, 4};
  const double sum = 10;
  // All orders of the four, and the first two of them, with their probabilities.
  std::map<std::vector<std::uint64_t>, double> whole, pairs;
  std::vector<std::uint64_t> order{0, 1, 3, 4};
  do {
    double left = sum, p = 1;
    for (const std::uint64_t i : order) {
      p *= weights[i] / left;
      left -= weights[i];
    }
    whole[order] += p;
    pairs[{order[0], order[1]}] += p;
  } while (std::ranges::next_permutation(order).found);
  REQUIRE(whole.size() == 24);
  const auto follows = [&](const std::map<std::vector<std::uint64_t>, double>& law, std::uint64_t count) {
    const ps::Pipeline p =
        records(5) | ps::draw_weighted({.weights = weights, .count = count, .replacement = false, .seed = 11});
    std::map<std::vector<std::uint64_t>, std::uint64_t> seen;
    for (std::uint64_t epoch = 0; epoch < 60'000; ++epoch) ++seen[order_of(p, epoch)];
    std::vector<std::uint64_t> counts;
    std::vector<double> probabilities;
    for (const auto& [key, probability] : law) {
      counts.push_back(seen[key]);
      probabilities.push_back(probability);
    }
    return seen.size() == law.size() && fits(counts, probabilities);
  };
  CHECK(follows(whole, 0));
  CHECK(follows(whole, 4));
  CHECK(follows(pairs, 2));
}

TEST_CASE("draws without replacement are distinct, at any size") {
  for (const std::uint64_t n : {1u, 2u, 63u, 64u, 65u, 255u, 257u, 4095u, 4097u}) {
    std::vector<double> weights;
    std::uint64_t above = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      weights.push_back(i % 3 == 1 ? 0.0 : std::ldexp(1.0, static_cast<int>(mix(i) % 2000) - 1000));
      above += weights.back() > 0 ? 1 : 0;
    }
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, above / 2, above}) {
      CAPTURE(n, count);
      const ps::Pipeline p = records(n) | ps::draw_weighted({.weights = weights, .count = count, .replacement = false});
      REQUIRE(p.size() == (count == 0 ? above : count));
      const auto order = order_of(p, 3);
      CHECK(std::set<std::uint64_t>(order.begin(), order.end()).size() == p.size());
      for (const std::uint64_t i : order) REQUIRE(weights[i] > 0);
      if (p.size() > 60) CHECK_FALSE(order == order_of(p, 4));
    }
  }
  // What no double can be divided by is still drawn last.
  const std::vector<double> far{5e-324, 1e308, 1e308};
  for (std::uint64_t epoch = 0; epoch < 20; ++epoch)
    CHECK(order_of(records(3) | ps::draw_weighted({.weights = far, .replacement = false}), epoch)[2] == 0);
}

TEST_CASE("draws are the same in any access, from any thread") {
  std::vector<double> weights;
  for (std::uint64_t i = 0; i < 1025; ++i) weights.push_back(static_cast<double>(mix(i) % 100));
  const auto labels = labels_with({1, 30, 300, 694});
  for (const bool replacement : {true, false}) {
    CHECK(same_in_any_access(records(1025) | ps::draw_weighted({.weights = weights, .replacement = replacement}), 5,
                             scaled(1000)));
    CHECK(same_in_any_access(records(1025) | ps::draw_balanced({.labels = labels, .replacement = replacement}), 5,
                             scaled(1000)));
  }
}

TEST_CASE("classes are equally frequent in every epoch and over all of them") {
  for (const std::vector<std::uint64_t>& sizes : {std::vector<std::uint64_t>{1, 1000, 30},
                                                  {5},
                                                  {2, 2},
                                                  std::vector<std::uint64_t>(100, 7),
                                                  {300, 1, 1, 257, 64, 65, 63}}) {
    const auto labels = labels_with(sizes);
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{64},
                                      std::uint64_t{65}, std::uint64_t{1000}}) {
      CAPTURE(sizes.size(), count);
      const ps::Pipeline p = records(labels.size()) | ps::draw_balanced({.labels = labels, .count = count, .seed = 2});
      REQUIRE(p.size() == (count == 0 ? labels.size() : count));
      std::vector<std::vector<std::uint64_t>> epochs;
      std::map<std::int64_t, std::uint64_t> all;
      for (std::uint64_t epoch = 0; epoch < 7; ++epoch) {
        epochs.push_back(order_of(p, epoch));
        std::map<std::int64_t, std::uint64_t> one;
        for (const std::int64_t label : labels) one[label] = 0;
        for (const std::uint64_t i : epochs.back()) ++one[labels[i]], ++all[labels[i]];
        const auto [least, most] = std::ranges::minmax(one | std::views::values);
        REQUIRE(most - least <= 1);
      }
      for (const std::int64_t label : labels) all.try_emplace(label, 0);
      const auto [least, most] = std::ranges::minmax(all | std::views::values);
      CHECK(most - least <= 1);
      check_passes(epochs, labels);
    }
  }
}

TEST_CASE("classes come mixed") {
  const auto labels = labels_with({50, 50});
  const ps::Pipeline p = records(100) | ps::draw_balanced({.labels = labels, .count = 64});
  std::set<std::vector<std::int64_t>> sequences;
  std::vector<std::uint64_t> first(2), runs(2);
  for (std::uint64_t epoch = 0; epoch < 2000; ++epoch) {
    std::vector<std::int64_t> classes;
    for (const std::uint64_t i : order_of(p, epoch)) classes.push_back(labels[i]);
    ++first[classes[0] == labels[0] ? 0 : 1];
    ++runs[classes[0] == classes[1] ? 0 : 1];
    sequences.insert(classes);
  }
  CHECK(sequences.size() == 2000);
  CHECK(fits(first, {0.5, 0.5}));
  CHECK(fits(runs, {31.0 / 63, 32.0 / 63}));
}

TEST_CASE("class weights set how often a class comes") {
  const auto labels = labels_with({40, 100, 9, 3});  // classes -10, 0, 10, 20
  const std::vector<std::pair<std::int64_t, double>> weights{{-10, 3}, {0, 4}, {10, 0}};
  const ps::Pipeline p =
      records(labels.size()) | ps::draw_balanced({.labels = labels, .class_weights = weights, .count = 800});
  std::vector<std::vector<std::uint64_t>> epochs;
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
    epochs.push_back(order_of(p, epoch));
    std::map<std::int64_t, std::uint64_t> counts;
    for (const std::uint64_t i : epochs.back()) ++counts[labels[i]];
    CHECK(counts == std::map<std::int64_t, std::uint64_t>{{-10, 300}, {0, 400}, {20, 100}});
    // Each window of 64 has its 24, 32 and 8.
    for (std::size_t at = 0; at + 64 <= 768; at += 64) {
      std::map<std::int64_t, std::uint64_t> window;
      for (std::size_t i = at; i < at + 64; ++i) ++window[labels[epochs.back()[i]]];
      REQUIRE(window == std::map<std::int64_t, std::uint64_t>{{-10, 24}, {0, 32}, {20, 8}});
    }
  }
  check_passes(epochs, labels);
  const auto drawn =
      order_of(records(labels.size()) |
               ps::draw_balanced({.labels = labels, .class_weights = weights, .count = 100'000, .replacement = true}));
  std::vector<double> law;
  for (const std::int64_t label : labels)
    law.push_back(label == -10 ? 3.0 / 8 / 40 : label == 0 ? 0.5 / 100 : label == 10 ? 0.0 : 1.0 / 8 / 3);
  CHECK(fits(counts_of(drawn, labels.size()), law));
}

TEST_CASE("draws that make no sense are refused") {
  const auto weighted = [](ps::WeightedOptions o, const std::string& word) {
    return refused([&] { (void)ps::draw_weighted(o); }, "draw_weighted", word);
  };
  CHECK(weighted({.weights = {}}, "above 0"));
  CHECK(weighted({.weights = {0, 0}}, "above 0"));
  CHECK(weighted({.weights = {1, -1}}, "weight 1 is -1"));
  CHECK(weighted({.weights = {std::nan("")}}, "weight 0"));
  CHECK(weighted({.weights = {1, std::numeric_limits<double>::infinity()}}, "weight 1"));
  CHECK(weighted({.weights = {1, 0, 1}, .count = 3, .replacement = false}, "2 weights"));
  CHECK(weighted({.weights = {1}, .count = ~std::uint64_t{0}}, "2^62"));
  const auto balanced = [](ps::BalancedOptions o, const std::string& word) {
    return refused([&] { (void)ps::draw_balanced(o); }, "draw_balanced", word);
  };
  CHECK(balanced({.labels = {}}, "labels"));
  CHECK(balanced({.labels = {1, 2}, .class_weights = {{3, 1.0}}}, "class 3"));
  CHECK(balanced({.labels = {1, 2}, .class_weights = {{1, -1.0}}}, "weight 0"));
  CHECK(balanced({.labels = {1}, .class_weights = {{1, 0.0}}}, "above 0"));
  CHECK(balanced({.labels = {1}, .count = ~std::uint64_t{0}}, "2^62"));
}

TEST_CASE("draws stand where a position always is the same record") {
  const ps::Stage two = ps::draw_weighted({.weights = {1, 0}}),
                  without = ps::draw_weighted({.weights = {1, 0}, .replacement = false}),
                  classes = ps::draw_balanced({.labels = {4, 7}}),
                  drawn = ps::draw_balanced({.labels = {4, 7}, .replacement = true});
  for (const ps::Stage& stage : {two, without, classes, drawn}) {
    CHECK(error_of([&] { (void)(records(3) | stage); })->cause().find(" 3") != std::string::npos);
    CHECK_FALSE(error_of([&] { (void)order_of(records(3) | ps::take(2) | stage); }));
    CHECK_FALSE(error_of([&] {
      (void)order_of(records(9) | ps::select({3, 4}) | ps::skip(0) | stage | ps::shuffle());
    }));
    const auto error = error_of([&] { (void)(records(2) | ps::shuffle() | stage); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::invalid_argument);
    CHECK(error->cause().find("shuffle") != std::string::npos);
    CHECK(error_of([&] { (void)(records(2) | two | stage); }));
  }
  CHECK(order_of(records(9) | ps::skip(7) | two) == std::vector<std::uint64_t>{7, 7});
}

TEST_CASE("everything that changes draws is in the fingerprint") {
  std::set<std::uint64_t> seen;
  for (const ps::WeightedOptions& o : std::vector<ps::WeightedOptions>{{.weights = {1, 2}},
                                                                       {.weights = {1, 3}},
                                                                       {.weights = {1, 2}, .count = 1},
                                                                       {.weights = {1, 2}, .replacement = false},
                                                                       {.weights = {1, 2}, .seed = 1}})
    seen.insert((records(2) | ps::draw_weighted(o)).fingerprint());
  for (const ps::BalancedOptions& o : std::vector<ps::BalancedOptions>{{.labels = {1, 2}},
                                                                       {.labels = {1, 1}},
                                                                       {.labels = {1, 2}, .class_weights = {{1, 2.0}}},
                                                                       {.labels = {1, 2}, .count = 1},
                                                                       {.labels = {1, 2}, .replacement = true},
                                                                       {.labels = {1, 2}, .seed = 1}})
    seen.insert((records(2) | ps::draw_balanced(o)).fingerprint());
  CHECK(seen.size() == 11);
}

TEST_CASE("labels are read from any field of whole numbers") {
  ps::Memory m;
  m.add<std::int64_t>("i64", {}, {-5, 3}).add<std::uint8_t>("u8", {}, {200, 1}).add<std::int8_t>("i8", {}, {-2, 1});
  m.add<std::uint16_t>("u16", {}, {65535, 1}).add<std::int16_t>("i16", {}, {-300, 1});
  m.add<std::uint32_t>("u32", {}, {4'000'000'000u, 1}).add<std::int32_t>("i32", {}, {-70000, 1});
  m.add<std::uint64_t>("u64", {}, {1, std::uint64_t{1} << 63}).add<float>("f32", {}, {1, 2});
  m.add<std::int64_t>("row", {1}, {1, 2});
  using Labels = std::vector<std::int64_t>;
  CHECK(ps::labels_of(m, "i64") == Labels{-5, 3});
  CHECK(ps::labels_of(m, "u8") == Labels{200, 1});
  CHECK(ps::labels_of(m, "i8") == Labels{-2, 1});
  CHECK(ps::labels_of(m, "u16") == Labels{65535, 1});
  CHECK(ps::labels_of(m, "i16") == Labels{-300, 1});
  CHECK(ps::labels_of(m, "u32") == Labels{4'000'000'000, 1});
  CHECK(ps::labels_of(m, "i32") == Labels{-70000, 1});
  for (const char* field : {"f32", "row", "nothing"}) {
    const auto error = error_of([&] { (void)ps::labels_of(m, field); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::schema_mismatch);
    CHECK(error->stage() == "labels_of");
    CHECK(error->cause().find("i64: i64[]") != std::string::npos);
  }
  const auto large = error_of([&] { (void)ps::labels_of(m, "u64"); });
  REQUIRE(large);
  CHECK(large->code() == ps::Errc::limit_exceeded);
  CHECK(large->index() == 1);
  Records faulty{.count = 5};
  CHECK(ps::labels_of(faulty, "y") == Labels{0, 1, 2, 3, 4});
  faulty.shared->faults[3] = Fault::corrupt;
  const auto bad = error_of([&] { (void)ps::labels_of(faulty, "y"); });
  REQUIRE(bad);
  CHECK(bad->key() == "key-3");
  CHECK(bad->index() == 3);
  CHECK(bad->file() == "/nowhere/records");
  CHECK(ps::labels_of(Records{}, "y").empty());
}
