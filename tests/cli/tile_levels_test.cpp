// SPDX-License-Identifier: Apache-2.0
// penstock tile and inspect: levels, micrometres, and the ways in which slides are read.
#include <cstdlib>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"

namespace ps = penstock;
using namespace penstock_test;

TEST_CASE("tile cuts pixels of any size, and inspect tells how large they are and how a slide is read") {
  const TempFolder folder;
  REQUIRE(make_slides({folder / "a.svs", "--size", "2000x1500", "--quiet"}).status == 0);
  REQUIRE(make_slides({folder / "b.svs", "--size", "900x700", "--compression", "jpeg2000", "--levels", "2", "--quiet"})
              .status == 0);
  const std::string inspected = tool({"inspect", folder / "a.svs", "--quiet"}).out;
  CHECK(inspected.find("slide a: 2000x1500 pixels, tiles of 256x256, JPEG; levels 2000x1500, 1000x750; 0.5 micrometres "
                       "a pixel; 20x") != std::string::npos);
  const auto b = tool({"inspect", folder / "b.svs", "--json"}).json()["slides"][0];
  CHECK(b["codec"] == "JPEG 2000");
  CHECK(b["why_openslide"].is_null());
  CHECK(b["levels"].size() == 2);
  CHECK(b["mpp_x"] == 0.5);
  CHECK(b["magnification"] == 20);

  const auto cut = [&](std::vector<std::string> more, const std::string& name) {
    more.insert(more.begin(), {"tile", folder / "a.svs", folder / "b.svs", "--out", folder / name, "--json"});
    const ToolResult made = tool(more);
    CHECK(made.err == "");
    REQUIRE(made.status == 0);
    return made.json();
  };
  // The stored level of one micrometre: 3 x 2 whole tiles of a are copied, of b none.
  const auto micron = cut({"--mpp", "1"}, "micron.lmdb");
  CHECK(micron["written"] == 6 + 1);
  CHECK(micron["copyable"] == 6);
  CHECK(content(folder / "micron.lmdb") == [&] {
    cut({"--level", "1"}, "level.lmdb");
    return content(folder / "level.lmdb");
  }());
  CHECK(content(folder / "micron.lmdb") == [&] {
    cut({"--magnification", "10"}, "power.lmdb");
    return content(folder / "power.lmdb");
  }());
  const auto between = cut({"--mpp", "0.8", "--size", "200"}, "between.lmdb");
  CHECK(between["copyable"] == 0);
  CHECK(between["written"] == 6 * 4 + 2 * 2);
  const ps::LmdbSource source({.path = folder / "between.lmdb"});
  // 200 pixels of 0.8 micrometres are 320 of level 0.
  CHECK(source.key(1) == "a/000000_000320");
}

TEST_CASE("tile takes how large a pixel is from a table, or from whoever knows") {
  const TempFolder folder;
  write_slide(folder / "a.tif", {.width = 400, .height = 300, .lower = {{200, 150}}});
  folder.write("t.csv", "slide,mpp\na,0.25\n");
  const auto status = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"tile", folder / "a.tif", "--size", "64", "--dry-run", "--out", folder / "t.lmdb"});
    return tool(more);
  };
  CHECK(status({"--mpp", "0.5"}).out.find("a: can't be read: the file doesn't say how large a pixel is") !=
        std::string::npos);
  CHECK(status({"--mpp", "0.5", "--labels", folder / "t.csv", "--mpp-column", "mpp"})
            .out.find("a: 200x150 pixels of level 1, 6 tiles") != std::string::npos);
  CHECK(status({"--mpp", "0.5", "--assume-mpp", "0.5"}).out.find("a: 400x300 pixels, 24 tiles") != std::string::npos);
  CHECK(status({"--mpp", "0.75", "--assume-mpp", "0.5"})
            .out.find("a: 267x200 pixels, made of the 400x300 of level 0, 12 tiles") != std::string::npos);
  CHECK(status({"--mpp", "0.5"}).status == 3);
  CHECK(status({"--mpp", "0.5", "--level", "1"}).status == 2);
  CHECK(status({"--mpp", "0.5", "--level", "0"}).status == 2);
  CHECK(status({"--mpp", "0.5", "--magnification", "10"}).status == 2);
  CHECK(status({"--mpp", "100"}).status == 2);
  CHECK(status({"--mpp-column", "mpp"}).status == 2);
}

TEST_CASE("tile leaves out what shows no tissue, and says so") {
  const TempFolder folder;
  REQUIRE(make_slides({folder / "a.svs", "--size", "3000x2250", "--quiet"}).status == 0);
  const auto cut = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"tile", folder / "a.svs", "--json"});
    const ToolResult made = tool(more);
    CHECK(made.err == "");
    return made;
  };
  const auto all = cut({"--out", folder / "all.lmdb"}).json();
  const auto some = cut({"--out", folder / "some.lmdb", "--tissue", "saturation"}).json();
  CHECK(all["written"] == 88);
  const auto kept = some["written"];
  CHECK(kept > 30);
  CHECK(kept < 70);
  CHECK(some["copyable"] == kept);
  CHECK(some["notes"][0].text().find(" of 88 places show less tissue than") != std::string::npos);
  // Those that are there are the same.
  const auto everything = content(folder / "all.lmdb");
  for (const auto& [key, values] : content(folder / "some.lmdb")) CHECK(everything.at(key) == values);
  const auto dry = cut({"--out", folder / "dry.lmdb", "--dry-run", "--tissue", "grey", "--least-tissue", "1"}).json();
  CHECK(dry["slides"][0]["places"] == 88);
  CHECK(dry["tiles"] < kept);
  CHECK(tool({"tile", folder / "a.svs", "--out", folder / "x.lmdb", "--least-tissue", "0.5"}).status == 2);
  CHECK(tool({"tile", folder / "a.svs", "--out", folder / "x.lmdb", "--tissue", "hue"}).status == 2);
  const ToolResult none = tool(
      {"tile", folder / "a.svs", "--out", folder / "x.lmdb", "--tissue", "saturation", "--tissue-threshold", "254"});
  CHECK(none.status == 1);
  CHECK(none.err.find("no tile shows tissue") != std::string::npos);
}

TEST_CASE("a slide that needs OpenSlide says where it should be, or is read through it") {
  const TempFolder folder;
  const SlideForm form = openslide_form({.width = 300, .height = 200});
  write_slide(folder / "a.tif", form);
  ::setenv("PENSTOCK_OPENSLIDE", (folder / "none.so").c_str(), 1);
  const ToolResult without = tool({"inspect", folder / "a.tif"});
  ::unsetenv("PENSTOCK_OPENSLIDE");
  CHECK(without.status == 1);
  CHECK(one_line(without.err));
  CHECK(without.err.find(why_openslide_form) != std::string::npos);
  CHECK(without.err.find("PENSTOCK_OPENSLIDE names a library that can't be loaded") != std::string::npos);
  CHECK(without.err.find("install Debian's libopenslide0") != std::string::npos);
  const ToolResult with = tool({"inspect", folder / "a.tif", "--quiet"});
  CHECK(with.status == 0);
  CHECK(with.out.find("through OpenSlide ") != std::string::npos);
  CHECK(with.out.find(std::string(", as ") + why_openslide_form) != std::string::npos);
  CHECK(tool({"tile", folder / "a.tif", "--size", "64", "--dry-run", "--out", folder / "t.lmdb"})
            .out.find(std::string("12 tiles: 0 copied, 12 encoded: ") + why_openslide_form) != std::string::npos);
}
