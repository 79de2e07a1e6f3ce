// SPDX-License-Identifier: Apache-2.0
// penstock tile by several processes that share the slides, and penstock merge.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

namespace fs = std::filesystem;

struct SharedSlides {
  TempFolder folder;
  SharedSlides() {
    fs::create_directory(folder / "in");
    fs::create_directory(folder / "in/regions");
    int number = 0;
    for (const char* const name : {"a.svs", "b.svs", "c.tif", "d.svs", "e.svs"}) {
      write_slide(
          folder / (std::string("in/") + name),
          {.width = 100 + 90 * number, .height = 140, .seed = static_cast<std::uint64_t>(number), .per_unit = 20'000});
      // Each has another class.
      folder.write(std::string("in/regions/") + name[0] + ".geojson",
                   fmt::format(R"({{"type": "Feature", "properties": {{"classification": {{"name": "K{}"}}}},
 "geometry": {{"type": "Polygon", "coordinates": [[[0, 0], [90, 0], [90, 140], [0, 140], [0, 0]]]}}}})",
                               4 - number));
      ++number;
    }
    folder.write("t.csv", "slide,label\na,x\nb,z\nc,y\nd,x\ne,w\n");
  }
  std::vector<std::string> words(const std::string& out, std::vector<std::string> more = {}) const {
    more.insert(more.begin(),
                {"tile", folder / "in", "--out", folder / out, "--size", "40", "--labels", folder / "t.csv",
                 "--regions", folder / "in/regions", "--region-field", "region", "--encode"});
    return more;
  }
  // Runs all ranks; the worst exit status.
  int share(const std::string& out, int world) const {
    int worst = 0;
    for (int rank = 0; rank < world; ++rank) {
      const ToolResult result = tool(words(out, {"--rank", std::to_string(rank), "--world", std::to_string(world)}));
      CAPTURE(result.err);
      CHECK((result.status == 0 || result.status == 3));
      worst = std::max(worst, result.status);
    }
    return worst;
  }
};

// All that a store says of its records, in order.
std::string told(const std::string& store, const TempFolder& folder) {
  const ToolResult result = tool({"convert", store, "--out", folder / "told.tar", "--quiet"});
  CAPTURE(store, result.err);
  REQUIRE(result.status == 0);
  std::string text;
  for (const char* const name : {"told-000000.tar", "told-classes.txt", "told-classes-region.txt"}) {
    std::ifstream in(folder / name, std::ios::binary);
    text.append(std::istreambuf_iterator<char>(in), {});
    fs::remove(folder / name);
  }
  return text;
}

std::string pattern_of(const std::string& kind, int world) {
  return kind == "tar" ? fmt::format("t-r*-of-{}-*.tar", world) : fmt::format("t-r*-of-{}.{}", world, kind);
}

}  // namespace

TEST_CASE("stores of ranks, merged, are that of one process") {
  const SharedSlides slides;
  const TempFolder& folder = slides.folder;
  for (const std::string kind : {"lmdb", "tar", "h5"}) {
    REQUIRE(tool(slides.words("one." + kind)).status == 0);
    const std::string expected = told(folder / (kind == "tar" ? "one-000000.tar" : "one." + kind), folder);
    for (const int world : {1, 2, 3, 7}) {
      CAPTURE(kind, world);
      slides.share("t." + kind, world);
      const std::string list = folder / fmt::format("{}{}.json", kind, world);
      const ToolResult merged = tool({"merge", folder / pattern_of(kind, world), "--out", list, "--json"});
      CAPTURE(merged.err);
      REQUIRE(merged.status == 0);
      CHECK(merged.json()["order_kept"] == true);
      CHECK(told(list, folder) == expected);
      CHECK(tool({"inspect", list, "--json"}).json()["records"] == merged.json()["records"]);
      CHECK(tool({"verify", list}).status == 0);
      const std::string lines = text_in(list + "-report/slides.csv");
      CHECK(std::count(lines.begin(), lines.end(), '\n') == 6);
    }
  }
  // All may be moved together.
  fs::create_directory(folder / "moved");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
    if (const std::string name = entry.path().filename().string(); name.starts_with("t-r") || name == "lmdb3.json")
      fs::rename(entry.path(), folder.path() / "moved" / name);
  CHECK(tool({"inspect", folder / "moved/lmdb3.json"}).status == 0);
}

TEST_CASE("a rank that is missing, of another job, unfinished or there twice is told") {
  const SharedSlides slides;
  const TempFolder& folder = slides.folder;
  slides.share("t.lmdb", 3);
  const auto refused = [&](const std::vector<std::string>& stores, const std::string& why) {
    std::vector<std::string> words{"merge"};
    for (const std::string& store : stores) words.push_back(folder / store);
    words.insert(words.end(), {"--out", folder / "x.json"});
    const ToolResult result = tool(words);
    CAPTURE(result.err);
    CHECK(result.status == 1);
    CHECK(one_line(result.err));
    CHECK(result.err.find(why) != std::string::npos);
    CHECK_FALSE(fs::exists(folder / "x.json"));
  };
  refused({"t-r0-of-3.lmdb", "t-r2-of-3.lmdb"}, "rank 1 of 3 is missing");
  fs::copy(folder / "t-r1-of-3.lmdb", folder / "copy.lmdb", fs::copy_options::recursive);
  fs::copy(folder / "t-r1-of-3.lmdb-report", folder / "copy.lmdb-report", fs::copy_options::recursive);
  refused({"t-r0-of-3.lmdb", "t-r1-of-3.lmdb", "t-r2-of-3.lmdb", "copy.lmdb"}, "rank 1 is there twice");
  REQUIRE(tool(slides.words("u.lmdb", {"--rank", "1", "--world", "3", "--quality", "50"})).status == 0);
  refused({"t-r0-of-3.lmdb", "u-r1-of-3.lmdb", "t-r2-of-3.lmdb"}, "it is of another job than");
  REQUIRE(tool(slides.words("whole.lmdb", {})).status == 0);
  refused({"t-r0-of-3.lmdb", "t-r2-of-3.lmdb", "whole.lmdb"}, "its report is not that of a rank");
  refused({"none.lmdb"}, "none.lmdb");
  refused({"none*.lmdb"}, "no file has a name of this pattern");
  CHECK(tool({"merge", folder / "t-r0-of-3.lmdb", folder / "x.tar", "--out", folder / "x.json"}).status == 2);
  CHECK(tool({"merge", folder / "t-r0-of-3.lmdb", "--out", folder / "x.lmdb"}).status == 2);
}

TEST_CASE("merge misses no shard, takes no store twice, and a list that is there stays where it fails") {
  const SharedSlides slides;
  const TempFolder& folder = slides.folder;
  for (int rank = 0; rank < 2; ++rank)
    REQUIRE(
        tool(slides.words("t.tar", {"--rank", std::to_string(rank), "--world", "2", "--shard-samples", "5"})).status ==
        0);
  REQUIRE(tool({"merge", folder / "t-r*.tar", "--out", folder / "x.json"}).status == 0);
  const auto refused = [&](const std::vector<std::string>& stores, const std::string& why) {
    std::vector<std::string> words{"merge"};
    for (const std::string& store : stores) words.push_back(folder / store);
    words.insert(words.end(), {"--out", folder / "x.json"});
    const ToolResult result = tool(words);
    CAPTURE(result.err);
    CHECK((result.status == 1 || result.status == 2));
    CHECK(one_line(result.err));
    CHECK(result.err.find(why) != std::string::npos);
    CHECK(fs::exists(folder / "x.json"));
    CHECK_FALSE(fs::exists(folder / "x.new.json"));
  };
  refused({"t-r*.tar", "t-r0-of-2-000000.tar"}, "the store is named twice");
  fs::rename(folder / "t-r0-of-2-000001.tar", folder / "hidden");
  refused({"t-r?-of-2-000000.tar", "t-r?-of-2-000002.tar"}, "a shard is missing");
  fs::rename(folder / "hidden", folder / "t-r0-of-2-000001.tar");
  refused({"t-r*-report"}, "STORES name reports alone");
  // Ranks whose reports are elsewhere can't be known to be all.
  for (int rank = 0; rank < 2; ++rank)
    REQUIRE(
        tool(slides.words("q.h5", {"--rank", std::to_string(rank), "--world", "2", "--report", folder / "r"})).status ==
        0);
  refused({"q-r0-of-2.h5"}, "its report is not beside it");
  REQUIRE(tool({"tile", folder / "in", "--out", folder / "f", "--form", "folder", "--size", "40"}).status == 0);
  refused({"f"}, "is a folder of files, which no list can name");
}

TEST_CASE("stores without reports are merged by their keys, and a change of order is told") {
  const SharedSlides slides;
  const TempFolder& folder = slides.folder;
  for (const std::string name : {"d.svs", "a.svs", "b.svs"})
    REQUIRE(tool({"tile", folder / ("in/" + name), "--out", folder / (name + ".lmdb"), "--report",
                  folder / (name + "-r"), "--size", "40"})
                .status == 0);
  const ToolResult merged = tool({"merge", folder / "d.svs.lmdb", folder / "a.svs.lmdb", folder / "b.svs.lmdb", "--out",
                                  folder / "x.json", "--json"});
  CAPTURE(merged.err);
  REQUIRE(merged.status == 0);
  CHECK(merged.json()["order_kept"] == true);
  CHECK(merged.json()["report"] == nullptr);
  CHECK(tool({"inspect", folder / "x.json"}).out.find("keys    a/000000_000000 ... d/") != std::string::npos);
  REQUIRE(tool({"tile", folder / "in/a.svs", folder / "in/d.svs", "--out", folder / "ad.lmdb", "--report",
                folder / "ad-r", "--size", "40"})
              .status == 0);
  const ToolResult mixed = tool({"merge", folder / "ad.lmdb", folder / "b.svs.lmdb", "--out", folder / "y.json"});
  CHECK(mixed.status == 0);
  CHECK(mixed.out.find("the order is that of the stores, not that of the keys") != std::string::npos);
}

TEST_CASE("ranks have runs of about equal bytes, and none but its own slides is opened") {
  const SharedSlides slides;
  const TempFolder& folder = slides.folder;
  folder.write("in/f.svs", std::string(100'000, 'x'));  // hardly a slide
  folder.write("t.csv", "slide,label\na,x\nb,z\nc,y\nd,x\ne,w\nf,v\n");
  folder.write("in/regions/f.geojson", R"({"type": "FeatureCollection", "features": []})");
  CHECK(slides.share("t.tar", 3) == 3);
  std::int64_t tiles = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const auto run = Json::parse(text_in(folder / fmt::format("t-r{}-of-3.tar-report/run.json", rank)));
    tiles += run["result"]["tiles"].whole();
    CHECK(run["slides"].size() == 6);
    // What is passed over is not looked into.
    for (const auto& slide : run["slides"])
      if (slide.contains("failure")) CHECK_FALSE(slide.contains("passed_over"));
  }
  const auto one = tool(slides.words("one.tar", {"--json"}));
  CHECK(one.status == 3);
  CHECK(one.json()["written"] == tiles);
  const ToolResult merged = tool({"merge", folder / "t-r*-of-3-*.tar", "--out", folder / "t.json"});
  CAPTURE(merged.err);
  CHECK(merged.status == 0);
  CHECK(told(folder / "t.json", folder) == told(folder / "one-000000.tar", folder));
}

TEST_CASE("a rank tells of its own slides") {
  const SharedSlides slides;
  const auto told_by = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"--rank", "1", "--world", "3", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const ToolResult result = tool(slides.words("t.lmdb", words));
    CAPTURE(result.err);
    REQUIRE(result.status == 0);
    return result.json();
  };
  const auto dry = told_by({"--dry-run"});
  REQUIRE(dry["slides"].size() < 5);
  CHECK(dry["tiles"] > 0);
  const auto written = told_by({});
  CHECK(written["slides"] == dry["slides"].size());
  CHECK(written["written"] == dry["tiles"]);
  // Other settings that leave it no tile don't touch what it has.
  const std::string report = slides.folder / "t-r1-of-3.lmdb-report/slides.csv";
  const auto size = fs::file_size(report);
  CHECK(tool(slides.words("t.lmdb", {"--rank", "1", "--world", "3", "--stride", "3000", "--overlap", "0"})).status !=
        0);
  const ToolResult none = tool({"tile", slides.folder / "in", "--out", slides.folder / "t.lmdb", "--size", "5000",
                                "--rank", "1", "--world", "3"});
  CHECK(none.status == 1);
  CHECK(none.err.find("the store was begun from something else") != std::string::npos);
  CHECK(fs::file_size(report) == size);
}

TEST_CASE("ranks as the launcher says, and ranks that can't be meant") {
  const SharedSlides slides;
  const TempFolder& folder = slides.folder;
  ::setenv("SLURM_PROCID", "1", 1);
  ::setenv("SLURM_NTASKS", "2", 1);
  const ToolResult automatic = tool(slides.words("t.lmdb", {"--rank", "auto"}));
  ::unsetenv("SLURM_PROCID");
  ::unsetenv("SLURM_NTASKS");
  CAPTURE(automatic.err);
  CHECK(automatic.status == 0);
  CHECK(fs::exists(folder / "t-r1-of-2.lmdb/data.mdb"));
  CHECK(tool({"merge", folder / "t-r1-of-2.lmdb", "--out", folder / "x.json"}).err.find("rank 0 of 2 is missing") !=
        std::string::npos);
  const auto status = [&](const std::vector<std::string>& more) {
    const ToolResult result = tool(slides.words("t.lmdb", more));
    CHECK(one_line(result.err));
    return result.status;
  };
  CHECK(status({"--rank", "2", "--world", "2"}) == 2);
  CHECK(status({"--rank", "0"}) == 2);
  CHECK(status({"--world", "2"}) == 2);
  CHECK(status({"--rank", "x", "--world", "2"}) == 2);
  CHECK(status({"--rank", "0", "--world", "0"}) == 2);
  CHECK(status({"--rank", "auto", "--world", "2"}) == 2);
}
