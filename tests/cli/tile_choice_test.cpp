// SPDX-License-Identifier: Apache-2.0
// penstock tile with regions, with lists of places, and with fits of stains.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;

namespace {

const SlideForm plain{.width = 400, .height = 300, .per_unit = 20'000};

const std::string left_half =
    R"({"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[200,0],[200,300],[0,300]]]},)"
    R"("properties":{"classification":{"name":"tumor"}}})";

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("tile takes regions that somebody drew, and says what tiles show") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain);
  folder.write("regions/a.geojson", left_half);
  const auto tile = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"tile", folder / "a.tif", "--size", "50", "--regions", folder / "regions"});
    return tool(more);
  };
  ToolResult result = tile({"--out", folder / "in.lmdb", "--include", "tumor"});
  CHECK(result.err == "");
  REQUIRE(result.status == 0);
  CHECK(says(result.out, "in.lmdb: 24 tiles of 1 slide"));
  CHECK(says(result.out, "24 of 48 places lie where --regions wants none, and are left out"));
  result = tile({"--out", folder / "all.lmdb", "--region-field", "kind"});
  REQUIRE(result.status == 0);
  const ps::LmdbSource all({.path = folder / "all.lmdb"});
  CHECK(all.size() == 48);
  CHECK(all.schema().at("kind").classes == ps::ClassNames({"", "tumor"}));
  CHECK(tile({"--out", folder / "out.lmdb", "--exclude", "tumor", "--least-region", "1"}).status == 0);
  CHECK(ps::LmdbSource({.path = folder / "out.lmdb"}).size() == 24);

  result = tile({"--out", folder / "no.lmdb"});
  CHECK(result.status == 2);
  CHECK(says(result.err, "--regions needs --include, --exclude or --region-field"));
  result = tile({"--out", folder / "no.lmdb", "--include", "tumour"});
  CHECK(result.status != 0);
  CHECK(says(result.err, "no slide has a region of the class \"tumour\"; there are: tumor"));
  result = tool({"tile", folder / "a.tif", "--size", "300", "--regions", folder / "regions", "--include", "tumor",
                 "--least-region", "1", "--out", folder / "no.lmdb"});
  CHECK(result.status != 0);
  CHECK(says(result.err, "no tile lies in the regions that are wanted"));
  write_slide(folder / "b.tif", plain);
  result = tool({"tile", folder / "b.tif", "--dry-run", "--regions", folder / "regions", "--exclude", "tumor"});
  CHECK(says(result.err, "1 of 1 slides have no file of regions in it"));
  result = tool({"tile", folder / "a.tif", folder / "b.tif", "--size", "50", "--dry-run", "--regions",
                 folder / "regions", "--exclude", "tumor", "--regions-may-miss"});
  CHECK(result.status == 0);
  CHECK(says(result.out, "in all 72 tiles of 2 slides"));
}

TEST_CASE("tile lists tiles for CLAM and TRIDENT, and takes their lists") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain);
  write_slide(folder / "b.tif", plain);
  folder.write("regions/a.geojson", left_half);
  folder.write("regions/b.geojson", "[]");
  ToolResult result = tool({"tile", folder / "?.tif", "--size", "50", "--regions", folder / "regions", "--include",
                            "tumor", "--coords", folder / "lists"});
  CHECK(result.err == "");
  REQUIRE(result.status == 0);
  CHECK(result.out.starts_with(folder / "lists" + ": 24 tiles of 2 slides listed\n"));
  CHECK(std::filesystem::exists(folder / "lists/patches/a.h5"));
  CHECK_FALSE(std::filesystem::exists(folder / "lists/patches/b.h5"));
  CHECK(std::filesystem::exists(folder / "lists/20x_50px_0px_overlap/patches/b_patches.h5"));
  result = tool({"tile", folder / "?.tif", "--size", "50", "--from-coords", folder / "lists", "--out",
                 folder / "again.lmdb", "--coords", folder / "other"});
  REQUIRE(result.status == 0);
  CHECK(ps::LmdbSource({.path = folder / "again.lmdb"}).size() == 24);
  CHECK(says(result.out, "1 slide without a list of places: no record"));
  CHECK(std::filesystem::exists(folder / "other/patches/a.h5"));

  result = tool({"tile", folder / "a.tif", "--from-coords", folder / "lists", "--dry-run"});
  CHECK(says(result.out, "its places show 50 pixels of level 0 on each side, and records 256"));
  CHECK(result.status == 3);
  result = tool({"tile", folder / "a.tif", "--size", "64", "--from-coords", folder / "lists", "--coords-of-any-size",
                 "--dry-run"});
  CHECK(result.status == 0);
  CHECK(says(result.out, "in all 20 tiles of 1 slide"));
  result = tool({"tile", folder / "a.tif"});
  CHECK(result.status == 2);
  CHECK(says(result.err, "--out is missing"));
  CHECK(tool({"tile", folder / "a.tif", "--dry-run"}).status == 0);
  CHECK(tool({"tile", folder / "a.tif", "--pictures", folder / "pictures"}).status == 0);
  CHECK(std::filesystem::exists(folder / "pictures/a.png"));
  // For programs; and what was left out is told, whatever is written.
  result = tool({"tile", folder / "?.tif", "--size", "50", "--from-coords", folder / "lists", "--coords",
                 folder / "third", "--json"});
  CHECK(says(result.out, "\"tiles\": 24"));
  CHECK(says(result.out, "1 slide without a list of places: no record"));
  result = tool({"tile", folder / "?.tif", "--size", "50", "--from-coords", folder / "lists", "--dry-run"});
  CHECK(says(result.out, "1 slide without a list of places: no record"));
  // An option takes one word, so that a slide may come after it.
  result = tool({"tile", "--regions", folder / "regions", "--include", "tumor", folder / "a.tif", "--dry-run"});
  CHECK(result.status == 0);
}

TEST_CASE("index saves what opening finds, for tile and inspect") {
  const TempFolder folder;
  write_slide(folder / "a.tif", plain);
  write_slide(folder / "b.tif", plain);
  folder.write("regions/a.geojson", left_half);
  folder.write("regions/b.geojson", left_half);
  const std::string index = folder / "x.tiles";
  const std::vector<std::string> cut{"--size", "50", "--regions", folder / "regions", "--include", "tumor"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), cut.begin(), cut.end());
    return tool(words);
  };
  ToolResult result = with({"index", folder / "?.tif", "--out", index});
  CHECK(result.err == "");
  REQUIRE(result.status == 0);
  CHECK(says(result.out, index + ": 48 tiles at 96 places of 2 slides\n"));
  const ToolResult direct = with({"tile", folder / "?.tif", "--dry-run"});
  result = with({"tile", folder / "?.tif", "--index", index, "--dry-run"});
  CHECK(result.out == direct.out);
  CHECK(with({"inspect", folder / "a.tif", "--index", index}).status == 0);
  result = tool({"tile", folder / "?.tif", "--size", "60", "--index", index, "--dry-run"});
  CHECK(result.status == 1);
  CHECK(says(result.err, "made with other settings: size 50, and size 60 is asked for"));
  result = tool({"tile", folder / "?.tif", "--index", folder / "none.tiles", "--dry-run"});
  CHECK(says(result.err, "there is no such index; make it by `penstock index`"));

  folder.write("b.tif", "no slide");
  result = with({"index", folder / "?.tif", "--out", index, "--json"});
  CHECK(result.status == 3);
  CHECK(says(result.out, "\"tiles\": 24"));
  CHECK(says(result.out, "\"failure\": "));
}

TEST_CASE("tile says how each slide is stained, with or without an index, and stages normalise by that") {
  const TempFolder folder;
  for (const char* kind : {"tumor", "benign"})
    REQUIRE(make_slides({folder / (std::string(kind) + ".svs"), "--size", "900x700", "--kind", kind}).status == 0);
  for (const std::string method : {"macenko", "reinhard"}) {
    const std::vector<std::string> rules{"--size",  "128",  "--tissue",        "saturation",
                                         "--stain", method, "--stain-patches", "50"};
    const auto run = [&](std::vector<std::string> words) {
      words.insert(words.end(), rules.begin(), rules.end());
      return tool(words);
    };
    const std::string store = folder / (method + ".lmdb"), same = folder / (method + "-again.lmdb"),
                      index = folder / (method + ".tiles");
    ToolResult result = run({"tile", folder / "*.svs", "--out", store});
    CHECK(result.err == "");
    REQUIRE(result.status == 0);
    REQUIRE(run({"index", folder / "*.svs", "--out", index}).status == 0);
    REQUIRE(run({"tile", folder / "*.svs", "--index", index, "--out", same}).status == 0);
    const ps::LmdbSource tiles({.path = store}), again({.path = same});
    CHECK(tiles.schema().at("stain").shape == ps::Shape{method == "macenko" ? 8 : 6});
    REQUIRE(tiles.size() > 20);
    REQUIRE(again.size() == tiles.size());
    std::set<std::string> fits[2];
    for (std::uint64_t i = 0; i < tiles.size(); ++i) {
      const ps::OwnedSample tile = ps::read_sample(tiles, i), other = ps::read_sample(again, i);
      CHECK(text_of(tile["stain"]) == text_of(other["stain"]));
      fits[*tile["slide"].as<std::int64_t, 0>().data()].insert(text_of(tile["stain"]));
    }
    CHECK(fits[0].size() == 1);
    CHECK(fits[1].size() == 1);
    CHECK(fits[0] != fits[1]);
    // Stages of a command line take it.
    const auto bench = [&](const std::string& stage) {
      return tool(
          {"bench", store, "--stages", "decode_jpeg | center_crop 100 | " + stage + " | batch 4", "--epochs", "1"});
    };
    result = bench("normalize_stain");
    CHECK(result.status == 0);
    CHECK(says(result.out, "stage   normalize_stain(image) -> {image: u8[100, 100, 3]"));
    const std::string target = method == "macenko" ? "0.56,0.72,0.41,0.22,0.80,0.56,2,1" : "8.7,-0.1,0.04,0.6,0.1,0.03";
    CHECK(bench("normalize_stain stain target=" + target).status == 0);
    result = bench("normalize_stain stain target=1,2,3");
    CHECK(result.status == 2);
    CHECK(says(result.err, "a fit of stains has 8 values (Macenko) or 6 (Reinhard); these are 3"));
  }
  CHECK(tool({"tile", folder / "tumor.svs", "--dry-run", "--stain-patches", "5"}).status == 2);
  CHECK(tool({"tile", folder / "tumor.svs", "--dry-run", "--stain", "vahadane"}).status == 2);
}

}  // namespace PENSTOCK_TEST_FILE
