// SPDX-License-Identifier: Apache-2.0
// penstock tile on slides of which OpenSlide's bounds are a part, and with lists of another slide.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/tile_cohort.hpp"
#include "cli/tool.hpp"
#include "sources/slide/leica_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("tile takes QuPath's regions from OpenSlide's bounds, and others from where it is told") {
  const TempFolder folder;
  write_leica(folder / "a.scn", {.width = 400, .height = 300, .left = 100, .top = 150}, {.width = 200, .height = 100});
  const auto tile = [&](const std::string& regions, std::vector<std::string> more) {
    more.insert(more.begin(), {"tile", folder / "a.scn", "--size", "50", "--regions", folder / regions, "--include",
                               "*", "--region-mpp", "1"});
    return tool(more);
  };
  const std::string square = R"("geometry":{"type":"Polygon","coordinates":[[[0,0],[100,0],[100,50],[0,50]]]})";
  folder.write("qupath/a.geojson",
               R"([{"type":"Feature",)" + square + R"(,"properties":{"objectType":"annotation"}}])");
  ToolResult result = tile("qupath", {"--out", folder / "qupath.lmdb"});
  CHECK(result.err == "");
  REQUIRE(result.status == 0);
  CHECK(has(result.out, "1 slide: regions of QuPath moved by OpenSlide's bounds, x 100, y 150\n"));
  CHECK(keys_in(folder / "qupath.lmdb") == std::vector<std::string>{"a/000150_000100", "a/000150_000150"});

  folder.write("asap/a.xml", R"(<ASAP_Annotations><Annotations><Annotation Type="Polygon"><Coordinates>
<Coordinate X="0" Y="0"/><Coordinate X="100" Y="0"/><Coordinate X="100" Y="50"/><Coordinate X="0" Y="50"/>
</Coordinates></Annotation></Annotations></ASAP_Annotations>)");
  result = tile("asap", {"--dry-run"});
  CHECK(result.status == 3);
  CHECK(has(result.out + result.err, "OpenSlide's bounds of the slide begin at x 100, y 150"));
  CHECK(has(result.out + result.err, "--region-origin"));
  result = tile("asap", {"--out", folder / "asap.lmdb", "--region-origin", "bounds"});
  REQUIRE(result.status == 0);
  CHECK(keys_in(folder / "asap.lmdb") == keys_in(folder / "qupath.lmdb"));
  result = tile("asap", {"--out", folder / "slide.lmdb", "--region-origin", "slide"});
  REQUIRE(result.status == 0);
  CHECK(keys_in(folder / "slide.lmdb") == std::vector<std::string>{"a/000000_000000", "a/000000_000050"});
  // A store's tiles have one origin.
  result = tile("asap", {"--out", folder / "asap.lmdb", "--region-origin", "slide"});
  CHECK(result.status == 1);
  CHECK(has(result.err, "--region-origin was bounds, and is slide now"));
  CHECK(tile("asap", {"--dry-run", "--region-origin", "glass"}).status == 2);
}

TEST_CASE("tile refuses lists of a slide of another size") {
  const TempFolder folder;
  for (const char* name : {"one", "two"}) std::filesystem::create_directory(folder / name);
  write_slide(folder / "one/a.tif", {.width = 400, .height = 300, .per_unit = 20'000});
  write_slide(folder / "two/a.tif", {.width = 450, .height = 300, .per_unit = 20'000});
  REQUIRE(tool({"tile", folder / "one/a.tif", "--size", "50", "--coords", folder / "lists"}).status == 0);
  const ToolResult result =
      tool({"tile", folder / "two/a.tif", "--size", "50", "--from-coords", folder / "lists", "--dry-run"});
  CHECK(result.status == 3);
  CHECK(has(result.out + result.err, "the list is of a slide of 400x300 pixels, and this one has 450x300"));
}

}  // namespace PENSTOCK_TEST_FILE
