// SPDX-License-Identifier: Apache-2.0
#include "stages/stage_lists.hpp"

#include <array>
#include <utility>

#include <penstock/stages/order.hpp>

namespace penstock::cli {

namespace {

Stage make_shuffle(const Arguments& a) {
  ShuffleOptions options;
  if (a.given("seed")) options.seed = a.count("seed");
  options.blocks = a.flag("blocks", options.blocks);
  options.window_blocks = a.count("window_blocks", options.window_blocks);
  options.block_size = a.count("block_size", options.block_size);
  options.ranks = a.count("ranks", options.ranks);
  return shuffle(options);
}

Stage make_bags(const Arguments& a) {
  BagOptions options;
  if (a.given("seed")) options.seed = a.count("seed");
  options.min_size = a.count("min_size", options.min_size);
  options.balance = a.text("balance", options.balance);
  return bags(a.count("size"), std::move(options));
}

Stage make_split(const Arguments& a) {
  SplitOptions options;
  options.shares = a.numbers("shares", options.shares);
  if (a.given("part")) options.part = a.count("part");
  if (a.given("all_but")) options.all_but = a.count("all_but");
  using By = SplitOptions::By;
  options.by = std::array{By::index, By::key, By::group}[a.choice("by", {"index", "key", "group"})];
  options.salt = a.count("salt", options.salt);
  options.stratify = a.text("stratify", options.stratify);
  return split(options);
}

}  // namespace

std::vector<StageSyntax> order_stages() {
  return {
      {"shuffle",
       true,
       {{"seed", "0"}, {"blocks", "true|false"}, {"window_blocks", "16"}, {"block_size", "0"}, {"ranks", "1"}},
       make_shuffle},
      {"take", true, {{"n", "N", true}}, [](const Arguments& a) { return take(a.count("n")); }},
      {"skip", true, {{"n", "N", true}}, [](const Arguments& a) { return skip(a.count("n")); }},
      {"select",
       true,
       {{"positions", "I,J,...", true}},
       [](const Arguments& a) { return select(a.counts("positions")); }},
      {"repeat", true, {{"times", "N", true}}, [](const Arguments& a) { return repeat(a.count("times")); }},
      {"seed", true, {{"value", "N", true}}, [](const Arguments& a) { return seed(a.count("value")); }},
      {"bags", true, {{"size", "N", true}, {"min_size", "1"}, {"balance", "label"}, {"seed", "0"}}, make_bags},
      {"split",
       true,
       {{"shares", "0.9,0.1"},
        {"part", "0"},
        {"by", "index|key|group"},
        {"salt", "0"},
        {"stratify", "label"},
        {"all_but", "K"}},
       make_split},
  };
}

}  // namespace penstock::cli
