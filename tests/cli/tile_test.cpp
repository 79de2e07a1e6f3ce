// SPDX-License-Identifier: Apache-2.0
// penstock tile: slides into stores.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include <penstock/sources/lmdb.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

namespace ps = penstock;
using namespace penstock_test;

namespace {

// 5 x 4 tiles, and a rest to the right and below.
const SlideForm with_edges{.width = 330, .height = 270};

Image padded(const Image& slide, const ps::Box& box) {
  Image out({box.height, box.width, 3});
  for (std::int32_t y = 0; y < box.height; ++y)
    for (std::int32_t x = 0; x < box.width; ++x)
      for (std::int32_t c = 0; c < 3; ++c) {
        const bool there = box.top + y < slide.shape.height && box.left + x < slide.shape.width;
        out.at(y, x, c) = there ? slide.at(box.top + y, box.left + x, c) : 255;
      }
  return out;
}

struct Tile {
  std::string key, jpeg;
  std::int64_t slide, x, y;
};

std::vector<Tile> tiles_in(const std::string& store) {
  const ps::LmdbSource source({.path = store});
  const auto number = [](const ps::OwnedSample& sample, const char* field) {
    return *sample[field].as<std::int64_t, 0>().data();
  };
  std::vector<Tile> tiles;
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const ps::OwnedSample sample = ps::read_sample(source, i);
    tiles.push_back(
        {source.key(i), text_of(sample["image"]), number(sample, "slide"), number(sample, "x"), number(sample, "y")});
  }
  return tiles;
}

Image decoded(const std::string& jpeg) { return plain_decode(std::as_bytes(std::span(jpeg))); }

std::string encoded(const Image& image, int quality) {
  const std::vector<std::byte> bytes = ps::encode_jpeg(image.view(), {.quality = quality});
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("tile copies what is stored, and encodes the rest") {
  const TempFolder folder;
  for (const bool rgb : {false, true})
    for (const bool own_tables : {false, true}) {
      SlideForm form = with_edges;
      form.rgb = rgb;
      form.own_tables = own_tables;
      if (rgb) form.luma = {1, 1};
      const WrittenSlide slide = write_slide(folder / "a.svs", form);
      const std::string file = text_in(folder / "a.svs");
      for (const char* edges : {"drop", "pad", "shrink"}) {
        CAPTURE(rgb, own_tables, edges);
        const std::string out = folder / fmt::format("{}{}{}.lmdb", rgb, own_tables, edges);
        const ToolResult made = tool(
            {"tile", folder / "a.svs", "--out", out, "--size", "64", "--edges", edges, "--quality", "70", "--json"});
        CHECK(made.err == "");
        REQUIRE(made.status == 0);
        const bool drop = std::string(edges) == "drop";
        CHECK(made.json()["written"] == (drop ? 20 : 30));
        CHECK(made.json()["copyable"] == 20);
        std::uint64_t copied = 0;
        for (const Tile& tile : tiles_in(out)) {
          CAPTURE(tile.key);
          CHECK(tile.key == fmt::format("a/{:06}_{:06}", tile.y, tile.x));
          const auto x = static_cast<std::int32_t>(tile.x), y = static_cast<std::int32_t>(tile.y);
          ps::Box box{y, x, 64, 64};
          if (std::string(edges) == "shrink") box = {y, x, std::min(64, 270 - y), std::min(64, 330 - x)};
          const Image pixels = padded(slide.pixels, box);
          if (x + 64 <= 330 && y + 64 <= 270) {
            CHECK(decoded(tile.jpeg) == pixels);
            // The scan is the file's own.
            CHECK(file.find(tile.jpeg.substr(tile.jpeg.size() - 200)) != std::string::npos);
            ++copied;
          } else {
            CHECK(tile.jpeg == encoded(pixels, 70));
          }
        }
        CHECK(copied == 20);
      }
    }
}

TEST_CASE("tile encodes where places lie elsewhere than the file's tiles, or all") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.svs", with_edges);
  const auto check = [&](std::vector<std::string> words, std::int32_t size, int quality) {
    std::filesystem::remove_all(folder / "t.lmdb");
    words.insert(words.begin(), {"tile", folder / "a.svs", "--out", folder / "t.lmdb", "--size", std::to_string(size)});
    REQUIRE(tool(words).status == 0);
    const std::vector<Tile> tiles = tiles_in(folder / "t.lmdb");
    std::uint64_t copied = 0;
    for (const Tile& tile : tiles) {
      const auto x = static_cast<std::int32_t>(tile.x), y = static_cast<std::int32_t>(tile.y);
      const Image pixels = padded(slide.pixels, {y, x, size, size});
      const bool as_encoded = tile.jpeg == encoded(pixels, quality);
      CHECK((as_encoded || decoded(tile.jpeg) == pixels));
      copied += as_encoded ? 0 : 1;
    }
    words.push_back("--dry-run");
    words.push_back("--json");
    CHECK(tool(words).json()["copied"] == copied);
    return tiles.size();
  };
  CHECK(check({}, 50, 90) == 6 * 5);
  CHECK(check({"--stride", "96"}, 64, 90) == 3 * 3);
  CHECK(check({"--overlap", "32", "--quality", "50"}, 64, 50) == 9 * 7);
  CHECK(check({"--encode"}, 64, 90) == 20);
}

TEST_CASE("tile takes what a table says of the slides") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 128, .height = 64});
  write_slide(folder / "b.svs", {.width = 64, .height = 64});
  write_slide(folder / "c.tif", {.width = 64, .height = 64});
  folder.write("cohort.csv", "slide,kind,months\nb,tumor,3.5\na,normal,12\n");
  const ToolResult refused = tool(
      {"tile", folder.path().string(), "--out", folder / "t.lmdb", "--size", "64", "--labels", folder / "cohort.csv"});
  CHECK(refused.status == 1);
  CHECK(one_line(refused.err));
  CHECK(refused.err.find("1 of 3 slides have no line: c") != std::string::npos);
  const std::vector<std::string> words{"tile",
                                       folder.path().string(),
                                       "--out",
                                       folder / "t.lmdb",
                                       "--size",
                                       "64",
                                       "--labels",
                                       folder / "cohort.csv",
                                       "--leave-out-unlisted"};
  REQUIRE(tool(words).status == 0);
  const ps::LmdbSource source({.path = folder / "t.lmdb"});
  CHECK(source.schema().to_string() == "{image: u8[?], slide: i64[], x: i64[], y: i64[], kind: i64[], months: f32[]}");
  CHECK(source.schema().at("kind").classes == ps::ClassNames{"normal", "tumor"});
  REQUIRE(source.size() == 3);
  CHECK(*ps::read_sample(source, 2)["kind"].as<std::int64_t, 0>().data() == 1);
  CHECK(*ps::read_sample(source, 0)["months"].as<float, 0>().data() == 12);
  CHECK(tool(words).out.find("is finished already, 3 tiles of 2 slides: nothing to do") != std::string::npos);
}

TEST_CASE("tile lists every bad tile that it leaves out, and says so by its status") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.svs", with_edges);
  slide.set_size(1, 0);
  slide.overwrite(slide.offsets[9], Bytes(slide.sizes[9], std::byte{0x33}));
  folder.write("b.svs", "no slide at all");
  write_slide(folder / "c.svs", {.width = 64, .height = 64});
  std::vector<std::string> words{"tile", folder.path().string(), "--out", folder / "t.lmdb", "--size", "64"};
  for (const bool again : {false, true}) {
    const ToolResult made = tool(words);
    CAPTURE(again);
    CHECK(made.status == 3);
    for (const char* line : {"a.svs, level 0, x 64, y 0: corrupt: ", "a.svs, level 0, x 192, y 64: corrupt: ",
                             "b.svs: corrupt: it is no TIFF file"})
      CHECK(made.out.find(line) != std::string::npos);
    CHECK(std::count(made.out.begin(), made.out.end(), '\n') == 5);
    CHECK(tiles_in(folder / "t.lmdb").size() == 19);
  }
  words.push_back("--json");
  const auto json = tool(words).json();
  CHECK(json["bad"].size() == 3);
  CHECK(json["bad"][0]["key"] == "a/000000_000064");
  CHECK(json["bad"][2]["file"] == folder / "b.svs");
  CHECK(json["skipped"] == 19);
  CHECK(json["written"] == 0);
}

TEST_CASE("tile says which slides and lines became no tiles") {
  const TempFolder folder;
  for (const char* name : {"a.svs", "b.svs"}) write_slide(folder / name, {.width = 64, .height = 64});
  write_slide(folder / "small.svs", {.width = 40, .height = 40});
  folder.write("t.csv", ",slide,label\n0,a,1\n1,small,2\n2,z,3\n");
  const ToolResult made = tool({"tile", folder.path().string(), "--out", folder / "t.lmdb", "--size", "64", "--labels",
                                folder / "t.csv", "--slide-column", "slide", "--leave-out-unlisted"});
  CAPTURE(made.out, made.err);
  CHECK(made.status == 0);
  for (const char* line : {"1 slide without a record: smaller than", "1 slide left out, as ", "1 line of "})
    CHECK(made.out.find(line) != std::string::npos);
}

TEST_CASE("a dry run tells what would be copied, and why not all, and writes nothing") {
  const TempFolder folder;
  write_slide(folder / "a.svs", with_edges);
  write_slide(folder / "b.tif", {.width = 100, .height = 100, .tile_width = 32, .tile_height = 32});
  const auto dry = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"tile", folder.path().string(), "--out", folder / "t.lmdb", "--size", "64", "--dry-run"});
    const ToolResult result = tool(more);
    CHECK(result.status == 0);
    CHECK_FALSE(std::filesystem::exists(folder / "t.lmdb"));
    return result;
  };
  const std::string text = dry({"--edges", "pad"}).out;
  CHECK(text.find("a: 330x270 pixels, 30 tiles: 20 copied, 10 encoded: those at the edges are not whole\n") !=
        std::string::npos);
  CHECK(text.find("b: 100x100 pixels, 4 tiles: 0 copied, 4 encoded: the file's tiles are of 32x32\n") !=
        std::string::npos);
  CHECK(text.find("in all 34 tiles of 2 slides, about ") != std::string::npos);
  const auto json = dry({"--json"}).json();
  CHECK(json["tiles"] == 21);
  CHECK(json["copied"] == 20);
  CHECK(json["bytes_about"] > 10'000);
  CHECK(json["slides"][0]["why_not"] == "");
}

TEST_CASE("tile refuses what can't be meant") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 64, .height = 64});
  const auto status = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"tile", folder / "a.svs", "--out", folder / "t.lmdb"});
    const ToolResult result = tool(more);
    CHECK(one_line(result.err));
    return result.status;
  };
  CHECK(status({"--size", "0"}) == 2);
  CHECK(status({"--size", "64", "--overlap", "64"}) == 2);
  CHECK(status({"--size", "64", "--overlap", "8", "--stride", "9"}) == 2);
  CHECK(status({"--columns", "a"}) == 2);
  CHECK(status({"--edges", "round"}) == 2);
  CHECK(status({"--quality", "101"}) == 2);
  CHECK(status({"--size", "256"}) == 1);  // no tile
  CHECK(tool({"tile", folder / "none.svs", "--out", folder / "t.lmdb"}).status == 1);
  CHECK(tool({"tile", folder / "*.tif", "--out", folder / "t.lmdb"}).status == 1);
}

TEST_CASE("a slide is a store for inspect, verify and bench") {
  const TempFolder folder;
  const WrittenSlide slide = write_slide(folder / "a.svs", with_edges);
  const auto inspected = tool({"inspect", folder / "a.svs", "--json"}).json();
  CHECK(inspected["kind"] == "slide");
  CHECK(inspected["records"] == 30);
  CHECK(inspected["schema"] == "{image: u8[64, 64, 3], slide: i64[], x: i64[], y: i64[]}");
  CHECK(tool({"inspect", folder / "a.svs"}).out.find("slide a: 330x270 pixels, tiles of 64x64") != std::string::npos);
  CHECK(tool({"inspect", folder / "a.svs", "--png", folder / "a.png"}).status == 0);
  CHECK(std::filesystem::file_size(folder / "a.png") > 1000);
  CHECK(tool({"verify", folder / "a.svs"}).status == 0);
  const ToolResult bench = tool({"bench", folder / "a.svs", "--epochs", "1", "--threads", "1"});
  CHECK(bench.status == 0);
  CHECK(bench.err == "");
  slide.overwrite(slide.offsets[9], Bytes(slide.sizes[9], std::byte{0x33}));
  const ToolResult verified = tool({"verify", folder / "a.svs"});
  CHECK(verified.status == 3);
  CHECK(verified.out.find("bad: index 9, key a/000064_000192: corrupt") != std::string::npos);
  folder.write("b.svs", "no slide");
  CHECK(tool({"inspect", folder / "b.svs"}).status == 1);
}

TEST_CASE("Pillow decodes copied tiles to the pixels of the slide") {
  const char* const python = "/usr/bin/python3";
  if (std::system((std::string(python) + " -c 'import PIL' 2>/dev/null").c_str()) != 0)
    PENSTOCK_SKIP("no Pillow for /usr/bin/python3: 40 tiles were not compared to it");
  const TempFolder folder;
  for (const bool rgb : {false, true}) {
    SlideForm form = with_edges;
    form.rgb = rgb;
    if (rgb) form.luma = {1, 1};
    const WrittenSlide slide = write_slide(folder / "a.svs", form);
    std::filesystem::remove_all(folder / "t.lmdb");
    REQUIRE(tool({"tile", folder / "a.svs", "--out", folder / "t.lmdb", "--size", "64"}).status == 0);
    std::uint64_t number = 0;
    for (const Tile& tile : tiles_in(folder / "t.lmdb")) {
      const Image pixels =
          padded(slide.pixels, {static_cast<std::int32_t>(tile.y), static_cast<std::int32_t>(tile.x), 64, 64});
      folder.write(fmt::format("tiles/{}.jpg", number), tile.jpeg);
      folder.write(fmt::format("tiles/{}.raw", number++),
                   {reinterpret_cast<const char*>(pixels.pixels.data()), pixels.pixels.size()});
    }
    REQUIRE(number == 20);
    folder.write("compare.py",
                 "import sys\n"
                 "from PIL import Image\n"
                 "for i in range(20):\n"
                 "    path = sys.argv[1] + '/' + str(i)\n"
                 "    image = Image.open(path + '.jpg')\n"
                 "    if image.mode != 'RGB' or image.tobytes() != open(path + '.raw', 'rb').read():\n"
                 "        sys.exit(1)\n");
    CAPTURE(rgb);
    CHECK(std::system(fmt::format("{} {} {}", python, folder / "compare.py", folder / "tiles").c_str()) == 0);
  }
}

TEST_CASE("a slide of any form is cut to the same tiles") {
  const TempFolder folder;
  std::map<std::string, std::string> expected;
  for (const char* name : {"a.svs", "a.tif", "a.ome.tif"})
    for (const std::vector<std::string>& more :
         {std::vector<std::string>{}, {"--big-endian"}, {"--big-tiff"}, {"--big-tiff", "--big-endian"}}) {
      std::vector<std::string> draw{folder / name, "--size", "700x600", "--tile", "128", "--force"};
      draw.insert(draw.end(), more.begin(), more.end());
      REQUIRE(make_slides(draw).status == 0);
      std::filesystem::remove_all(folder / "t.lmdb");
      const ToolResult made = tool({"tile", folder / name, "--out", folder / "t.lmdb", "--size", "128", "--json"});
      CAPTURE(name, more);
      REQUIRE(made.status == 0);
      CHECK(made.json()["copyable"] == 20);
      const auto got = content(folder / "t.lmdb");
      CHECK(got.size() == 20);
      CHECK(got.begin()->first == "a/000000_000000");
      if (expected.empty()) expected = got;
      CHECK(got == expected);
    }
}

TEST_CASE("the bad tiles that a slide was drawn with are those that are found") {
  const TempFolder folder;
  const auto drawn =
      make_slides({folder / "a.svs", "--size", "3000x2500", "--seed", "3", "--bad-tiles", "12", "--json"}).json();
  std::set<std::string> expected;
  for (const auto& tile : drawn["bad_tiles"])
    if (tile["how"] != "changed")  // of these, one in fifty may be decoded to its end
      expected.insert(fmt::format("a/{:06}_{:06}", tile["y"].whole(), tile["x"].whole()));
  for (const char* how : {"--encode", "--verify"}) {
    std::filesystem::remove_all(folder / "t.lmdb");
    const ToolResult made = tool(
        {"tile", folder / "a.svs", "--out", folder / "t.lmdb", "--edges", "pad", how, "--on-error", "drop", "--json"});
    CAPTURE(how);
    CHECK(made.status == 3);
    const auto json = made.json();
    std::set<std::string> found;
    for (const auto& tile : json["bad"]) found.insert(tile["key"].text());
    CHECK(found.size() <= 12);
    for (const std::string& key : expected) CHECK(found.contains(key));
    CHECK(json["written"] == 12 * 10 - found.size());
    CHECK(tool({"verify", folder / "t.lmdb"}).status == 0);
  }
}
