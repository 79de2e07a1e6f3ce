// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "cli/tool.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "transforms/codec/png/png_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;

namespace {
const std::string stages = "decode_jpeg | random_resized_crop 24 scale=0.3,1 | random_flip | batch 8";
}

TEST_CASE("bench gives the same hash at any thread count, in every run, from a store and from its folder") {
  const TempFolder folder;
  write_images(folder, 3, 61);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
  std::set<std::string> hashes;
  for (const std::string store : {"x.lmdb", "x.lmdb", "images"}) {
    const ToolResult result = tool({"bench", folder / store, "--stages", stages, "--seed", "7", "--threads", "1,2,5",
                                    "--epochs", "2", "--hash", "--json", "-"});
    REQUIRE(result.status == 0);
    const auto json = result.json();
    REQUIRE(json["runs"].size() == 3);
    CHECK(json["runs"][2]["threads"] == 5);
    for (const auto& run : json["runs"]) {
      hashes.insert(run["hash"].text());
      CHECK(run["states_hash"] == json["runs"][0]["states_hash"]);
    }
  }
  CHECK(hashes.size() == 1);
  const ToolResult other =
      tool({"bench", folder / "x.lmdb", "--stages", stages, "--seed", "8", "--epochs", "2", "--hash", "--json", "-"});
  CHECK(hashes.count(other.json()["runs"][0]["hash"].text()) == 0);
}

TEST_CASE("bench --json holds what scripts rely on") {
  const TempFolder folder;
  write_images(folder, 3, 61);
  const ToolResult result = tool({"bench", folder / "images", "--stages", stages, "--threads", "1..2", "--epochs", "2",
                                  "--memory", "1GiB", "--depth", "3", "--verify", "--json", folder / "out.json"});
  REQUIRE(result.status == 0);
  CHECK(result.out.find("images/s") != std::string::npos);
  const auto json = Json::parse(text_in(folder / "out.json"));
  REQUIRE(json["runs"].size() == 2);
  for (const auto& run : json["runs"]) {
    for (const char* name : {"threads", "samples_per_s", "cpu_s_per_1000", "first_batch_s", "peak_rss_bytes",
                             "next_p50_s", "next_p99_s"}) {
      INFO(name);
      REQUIRE(run[name].is_number());
      CHECK(run[name] > 0);
    }
    CHECK(run["samples"] == 122);
    CHECK(run["errors"] == 0);
    CHECK(run["hash"].is_null());
    CHECK(run["states_hash"].is_null());
    CHECK(run["limits"]["read_samples_per_s"] > 0);
    CHECK(run["limits"]["memcpy_samples_per_s"] > 0);
    CHECK(run["limits"].contains("chain_samples_per_s"));
  }
}

TEST_CASE("bench says that a run of a moment was too short, and how many epochs would do") {
  const TempFolder folder;
  write_images(folder, 3, 8);
  const std::vector<std::string> command{"bench", folder / "images", "--stages", stages, "--threads", "1"};
  const ToolResult moment = tool(command);
  REQUIRE(moment.status == 0);
  CHECK(moment.out.find("was too short for its figures to be sure: --epochs ") != std::string::npos);
  std::vector<std::string> longer = command;
  longer.insert(longer.end(), {"--consumer-ms", "300"});
  CHECK(tool(longer).out.find("too short") == std::string::npos);
}

TEST_CASE("bench does with bad samples what --on-error says") {
  const TempFolder folder;
  write_images(folder, 3, 40);
  folder.write("images/class_1/0004.jpg", "this is no image at all");
  const std::vector<std::string> common{"bench", folder / "images", "--stages", stages, "--epochs",
                                        "2",     "--hash",          "--json",   "-"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return tool(more);
  };
  for (const auto& failed : {with({}), with({"--on-error", "fail"})}) {
    CHECK(failed.status == 1);
    CHECK(one_line(failed.err));
    CHECK(failed.err.find("class_1/0004") != std::string::npos);
    CHECK(failed.out.empty());
  }
  std::set<std::string> hashes;
  for (const std::string policy : {"replace", "mask", "drop"}) {
    const ToolResult result = with({"--on-error", policy, "--threads", "1,3"});
    REQUIRE(result.status == 0);
    const auto json = result.json();
    REQUIRE(json["runs"].size() == 2);
    for (const auto& run : json["runs"]) {
      CHECK(run["errors"] == 2);
      CHECK(run["samples"] == (policy == "drop" ? 78 : 80));
      hashes.insert(run["hash"].text());
    }
  }
  CHECK(hashes.size() == 3);
}

TEST_CASE("bench shuffles unless it is told not to, after the order stages that come first") {
  const TempFolder folder;
  write_images(folder, 3, 40);
  const auto hash = [&](const std::string& line, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"bench", folder / "images", "--stages", line, "--epochs",
                                       "1",     "--hash",          "--json",   "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ToolResult result = tool(arguments);
    REQUIRE(result.status == 0);
    return result.json()["runs"][0]["hash"].text();
  };
  const std::string rest = "decode_jpeg | resize 16x24 | batch 8 tail=drop";
  CHECK(hash("take 20 | " + rest, {}) == hash("take 20 | shuffle | " + rest, {}));
  CHECK(hash("take 20 | " + rest, {}) != hash("shuffle | take 20 | " + rest, {}));
  CHECK(hash("take 20 | " + rest, {}) != hash("take 20 | " + rest, {"--no-shuffle"}));
  CHECK(hash("select 3,2,1,0,7,8,9,10 | " + rest, {"--no-shuffle"}) != hash("take 8 | " + rest, {"--no-shuffle"}));
  CHECK(hash(rest, {"--seed", "5"}) == hash("shuffle seed=5 | " + rest, {}));
}

TEST_CASE("bench knows every built-in stage") {
  const TempFolder folder;
  write_images(folder, 3, 40);
  for (const std::string line :
       {"seed 3 | split 0.5,0.5 1 by=key | skip 1 | repeat 2 | decode_jpeg color=gray | crop 1 2 40 50 | center_crop "
        "32x40 | random_crop 30 | batch 4 pad",
        "check verify=true fold=false | on_error mask max_share=0.5 | decode_jpeg | resize_short 30 | center_crop 24 | "
        "flip_horizontal | flip_vertical | "
        "random_flip 0.3 | random_flip_vertical p=0.1 | rot90 -1 | random_rot90 | color_jitter 0.4 0.4 0.4 hue=0.1 | "
        "stain_jitter 0.1 beta=0.05 | "
        "normalize mean=0.5,0.4,0.3 std=0.2 "
        "f16 | batch 4 tail=drop",
        "decode_jpeg | resize 8x9 | convert f32 chw scale=2 bias=0.5,1,2 | select_fields label,image | batch 64",
        "decode_jpeg | resize 8x9 | rename image photo | cast photo f64 | one_hot label 7 dtype=u8 | rename from=label "
        "to=class | batch 64",
        "decode_jpeg | letterbox 12x14 fill=9 label=3 | random_erasing 1 area=0.1,0.2 | normalize | one_hot label 7 "
        "f32 | "
        "batch 8 | mixup image,label 0.3 | cutmix",
        "decode_jpeg | random_crop 30 field=image,at:crop | channels_last | cast at f64 | batch 8",
        "decode_jpeg | resize 8x9 | cast field=label dtype=f16 | drop_fields image | batch 64",
        "decode_jpeg | encode_jpeg keep_stored=true | ragged image | batch 64",
        "decode_jpeg | encode_jpeg out=small quality=40 subsampling=444 progressive=true | resize 8x9 | encode_png "
        "image fast "
        "png | encode_jpeg restart_rows=1 out=jpeg | pad small | pad field=png to=9000 value=0 | ragged jpeg | batch "
        "64"}) {
    const ToolResult result = tool({"bench", folder / "images", "--stages", line, "--epochs", "1", "--json", "-"});
    INFO(line);
    INFO(result.err);
    CHECK(result.status == 0);
  }
}

TEST_CASE("the hash of bench is of rows of any size, too") {
  const TempFolder folder;
  write_images(folder, 3, 40);
  const auto hash = [&](const std::string& line, const std::string& threads) {
    const ToolResult result = tool(
        {"bench", folder / "images", "--stages", line, "--epochs", "1", "--threads", threads, "--hash", "--json", "-"});
    INFO(result.err);
    REQUIRE(result.status == 0);
    return result.json()["runs"][0]["hash"].text();
  };
  const std::string kept = "decode_jpeg | encode_jpeg keep_stored=true | ragged image | batch 8",
                    made = "decode_jpeg | encode_jpeg quality=35 | ragged image | batch 8";
  CHECK(hash(kept, "1") == hash(kept, "3"));
  CHECK(hash(made, "1") == hash(made, "3"));
  CHECK(hash(kept, "1") == hash("ragged image | batch 8", "1"));
  CHECK(hash(kept, "1") != hash(made, "1"));
}

TEST_CASE("bench decodes PNG") {
  const TempFolder folder;
  for (std::uint64_t i = 0; i < 8; ++i) {
    const penstock_test::Bytes bytes = PngFile({3, 4}, {20, 30}, i).bytes();
    folder.write("images/" + std::to_string(i) + ".png", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  for (const std::string line :
       {"decode_png | resize 16 | batch 4", "decode_png color=labels | resize 16 field=image:nearest | batch 4",
        "decode_image color=labels | resize 16 field=image:nearest | batch 4",
        "decode_png image rgba true 1000 | resize field=image 16 | batch 4", "decode_image | resize 16 | batch 4",
        "decode_image image gray 1000 9 true true | resize field=image 16 | batch 4",
        "decode_png dtype=u16 | random_crop 16 padding=4 fill=9 label=1 | batch 4",
        "decode_image cmyk=refused apply_orientation=true dtype=u16 | random_crop 16 padding=3 mode=reflect | batch "
        "4"}) {
    const ToolResult result = tool({"bench", folder / "images", "--stages", line, "--epochs", "1", "--json", "-"});
    INFO(line);
    INFO(result.err);
    CHECK(result.status == 0);
  }
}

}  // namespace PENSTOCK_TEST_FILE
