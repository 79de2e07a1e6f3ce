// SPDX-License-Identifier: Apache-2.0
// What the tool's loader gives, as hashes: over stores, stages, orders and policies. Printed, to be compared between
// two builds; tests/campaigns/hashes runs it.
#include <cstdlib>
#include <fstream>
#include <random>

#include <fmt/format.h>

#include "cli/tool.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "transforms/codec/png/png_files.hpp"

using namespace penstock_test;

namespace {

constexpr unsigned images = 61;

// Every store of the same images, two of which end early. CSV has numbers of its own.
std::vector<std::string> make_stores(const TempFolder& folder) {
  write_images(folder, 3, images);
  const auto cut = [&](const std::string& name) {
    const std::string path = folder / ("images/" + name);
    std::string bytes = text_in(path);
    REQUIRE(bytes.size() > 400);
    std::ofstream(path, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  };
  cut("class_1/0004.jpg");
  cut("class_2/0029.jpg");
  const auto pack = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"pack", folder / "images", "--quiet"});
    const ToolResult result = tool(more);
    INFO(result.err);
    REQUIRE(result.status == 0);
  };
  pack({"--out", folder / "plain.lmdb"});
  pack({"--out", folder / "seekable.lmdb", "--seekable"});
  pack({"--out", folder / "shards.tar", "--shard-samples", "17"});
  pack({"--out", folder / "one.h5"});
  pack({"--out", folder / "many.h5", "--shard-samples", "23"});
  std::ofstream csv(folder / "numbers.csv");
  csv << "a,b,c\n";
  for (int i = 0; i < 97; ++i) csv << i << ',' << i * 0.37 << ',' << (i % 7) << '\n';
  return {"images", "plain.lmdb", "seekable.lmdb", "shards-*.tar", "one.h5", "many-*.h5", "numbers.csv"};
}

struct Draw {
  std::mt19937_64 engine;
  std::size_t below(std::size_t n) { return engine() % n; }
  std::string of(const std::vector<std::string>& list) { return list[below(list.size())]; }
};

// Stages for one run.
std::string draw_stages(Draw& draw, const std::string& store) {
  const bool numbers = store == "numbers.csv";
  std::string out;
  const auto add = [&](const std::string& stage) { out += out.empty() ? stage : " | " + stage; };
  const std::vector<std::string> orders{"take 50",  "skip 7",  "select 3,1,9,9,20,2",
                                        "repeat 2", "shuffle", "split shares=0.7,0.3 part=0"};
  const bool shards = store.starts_with("shards"), hdf5 = store.ends_with(".h5");
  if (!hdf5 && !numbers && draw.below(6) == 0) add("split shares=0.5,0.5 part=1 by=key");
  if (shards && draw.below(3) == 0) add("shuffle blocks=true window_blocks=2");
  for (std::size_t n = draw.below(3); n != 0; --n) {
    const std::string order = draw.of(orders);
    if (order.starts_with("split") && out.find("shuffle") != std::string::npos) continue;  // refused
    add(order);
  }
  if (numbers) {
    if (draw.below(2) == 0) add("one_hot c 7");
    if (draw.below(2) == 0) add("cast b f64");
    if (draw.below(2) == 0) add("rename a first");
  } else {
    if (hdf5) add("drop_fields key");
    if (draw.below(6) == 0) add("check fold=false");
    add(draw.of({"decode_image", "decode_image scale=fit", "decode_jpeg", "decode_jpeg color=gray"}));
    if (draw.below(4) == 0) add(draw.of({"random_flip_vertical", "rot90", "random_rot90", "flip_horizontal"}));
    if (draw.below(4) == 0) add("resize_short 40");
    add(draw.of({"random_resized_crop 24 scale=0.3,1", "center_crop 32", "random_crop 30x20 padding=4", "resize 20x28",
                 "crop 2 3 24 24"}));
    if (draw.below(2) == 0) add("random_flip");
    if (draw.below(6) == 0) add("flip_vertical");
    if (out.find("gray") == std::string::npos && draw.below(5) == 0)
      add(draw.of({"color_jitter", "stain_jitter alpha=0.1"}));
    if (out.find("gray") == std::string::npos && draw.below(3) == 0)
      add(draw.of({"convert", "convert dtype=f16 layout=chw", "convert scale=0.5 bias=1",
                   "normalize mean=0.5,0.5,0.5 std=0.2,0.3,0.2"}));
    if (draw.below(5) == 0) add("cast label f32");
  }
  add(fmt::format("batch {}", draw.of({"1", "8", "13", "64"})) +
      draw.of({"", " tail=keep", " tail=drop", " tail=pad"}));
  return out;
}

}  // namespace

TEST_CASE("hashes of what the loader gives", "[.hashes]") {
  const char* count = std::getenv("PENSTOCK_RUNS");
  const TempFolder folder;
  const std::vector<std::string> stores = make_stores(folder);
  Draw draw{std::mt19937_64(1)};
  for (int i = 0, n = count ? std::atoi(count) : 1000; i < n; ++i) {
    const std::string& store = stores[draw.below(stores.size())];
    const std::string stages = draw_stages(draw, store);
    const std::string policy = draw.of({"fail", "replace", "replace", "mask", "mask", "drop", "drop"});
    std::vector<std::string> arguments{
        "bench",     folder / store, "--stages", stages, "--seed", std::to_string(draw.below(5)),
        "--threads", "1,3",          "--epochs", "2",    "--hash", "--json",
        "--quiet",   "--on-error",   policy};
    const std::string depth = draw.of({"0", "2", "5"});
    arguments.insert(arguments.end(), {"--depth", depth});
    const ToolResult result = tool(arguments);
    std::string line = fmt::format("{} | {} | {} | ", store, stages, policy);
    if (result.status == 0) {
      const auto runs = result.json()["runs"];
      INFO(line);
      CHECK(runs[0]["hash"] == runs[1]["hash"]);
      CHECK(runs[0]["states_hash"] == runs[1]["states_hash"]);
      line +=
          fmt::format("{} {} {} bad", runs[0]["hash"].text(), runs[0]["states_hash"].text(), runs[0]["errors"].whole());
    } else {
      line += "ended in an error";
      std::fputs(result.err.c_str(), stderr);
    }
    std::puts(line.c_str());
  }
}
