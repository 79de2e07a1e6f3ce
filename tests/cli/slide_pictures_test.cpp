// SPDX-License-Identifier: Apache-2.0
// penstock inspect --png and tile --pictures: what is chosen of slides, drawn.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <penstock/transforms/decode_png.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

namespace fs = std::filesystem;
namespace ps = penstock;
using namespace penstock_test;

namespace {

Image read_png(const std::string& path) {
  const std::string bytes = text_in(path);
  const auto decoding = ps::png_decoder()->start();
  const ps::ImageShape shape = decoding->open(std::as_bytes(std::span(bytes)));
  TestScratch scratch;
  return copied(decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch));
}

// The line around a record.
bool is_line(const Image& picture, std::int32_t x, std::int32_t y) {
  return picture.at(y, x, 0) == 0 && picture.at(y, x, 1) == 90 && picture.at(y, x, 2) == 200;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

const SlideForm plain{.width = 330, .height = 270};

}  // namespace

TEST_CASE("inspect --png draws a slide with the places that are asked for") {
  const TempFolder folder;
  write_slide(folder / "a.svs", plain);
  const auto draw = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"inspect", folder / "a.svs", "--png", folder / "a.png"});
    const ToolResult result = tool(more);
    CHECK(result.err == "");
    REQUIRE(result.status == 0);
    CHECK(result.out.find("  picture: " + folder / "a.png\n") != std::string::npos);
    return std::pair(read_png(folder / "a.png"), result.out);
  };
  const auto [own, own_text] = draw({});
  CHECK(own.shape.width == 360);
  // The file's tiles have 64 pixels, and those at the edges are records.
  CHECK(is_line(own, 64, 30));
  CHECK(is_line(own, 320, 30));
  CHECK_FALSE(is_line(own, 100, 30));
  CHECK(own_text.find("30 records") != std::string::npos);
  const auto [cut, cut_text] = draw({"--size", "100", "--stride", "110"});
  CHECK(is_line(cut, 100, 30));
  CHECK(is_line(cut, 110, 30));
  CHECK_FALSE(is_line(cut, 64, 30));
  CHECK(cut_text.find("6 records of {image: u8[100, 100, 3]") != std::string::npos);
  const auto [tissue, tissue_text] = draw({"--size", "20", "--tissue", "grey", "--tissue-threshold", "1"});
  CHECK(tissue_text.find("0 records of") != std::string::npos);
  CHECK(tissue_text.find("208 of 208 places show less tissue than") != std::string::npos);
  CHECK_FALSE(is_line(tissue, 20, 10));
  CHECK(draw({"--mpp", "1", "--assume-mpp", "0.5", "--size", "50"}).second.find("6 records") != std::string::npos);
  CHECK(draw({"--picture-side", "100"}).first.at(67, 0, 0) != 255);
  CHECK(draw({"--picture-side", "100"}).first.at(70, 100, 0) == 255);
  const auto json = tool({"inspect", folder / "a.svs", "--png", folder / "b.png", "--json"}).json();
  CHECK(json["pictures"] == Json::parse(R"([{"slide": "a", "png": ")" + folder / "b.png" + R"("}])"));
  CHECK(json["not_drawn"].empty());
  CHECK(read_png(folder / "b.png") == own);
}

TEST_CASE("inspect --png draws several slides into a folder, and tiles where a sheet is asked for") {
  const TempFolder folder;
  fs::create_directories(folder / "x/1");
  fs::create_directories(folder / "x/2");
  for (const char* const name : {"x/1/a.svs", "x/2/a.svs"}) write_slide(folder / name, plain);
  folder.write("x/2/b.svs", "no slide");
  const ToolResult drawn = tool({"inspect", folder / "x/*/*.svs", "--png", folder / "p/q/"});
  CHECK(drawn.status == 3);
  CHECK(drawn.out.find("2 pictures: " + folder / "p/q/1/a.png ... " + folder / "p/q/2/a.png\n") != std::string::npos);
  CHECK(drawn.out.find("slide 2/b: ") != std::string::npos);
  CHECK(names_in(folder / "p/q") == std::vector<std::string>{"1/a.png", "2/a.png"});
  fs::create_directories(folder / "there");
  CHECK(tool({"inspect", folder / "x/1/a.svs", "--png", folder / "there"}).status == 0);
  CHECK(names_in(folder / "there") == std::vector<std::string>{"a.png"});
  const ToolResult one_name = tool({"inspect", folder / "x/*/*.svs", "--png", folder / "p.png"});
  CHECK(one_name.status == 2);
  CHECK(one_line(one_name.err));
  CHECK(one_name.err.find("there are 3 slides") != std::string::npos);
  CHECK_FALSE(fs::exists(folder / "p.png"));
  const ToolResult sheet =
      tool({"inspect", folder / "x/1/a.svs", "--png", folder / "s.png", "--count", "4", "--cell", "32"});
  CHECK(sheet.status == 0);
  CHECK(sheet.out.find("contact sheet: ") != std::string::npos);
  CHECK(read_png(folder / "s.png").shape.width == 2 * 34 + 2);
}

TEST_CASE("tile --pictures draws each slide, also where nothing is written, and those without a tile") {
  const TempFolder folder;
  write_slide(folder / "a.svs", plain);
  write_slide(folder / "c.svs", {.width = 40, .height = 40});
  folder.write("b.svs", "no slide");
  const auto cut = [&](const std::string& pictures, std::vector<std::string> more) {
    more.insert(more.begin(), {"tile", folder / "a.svs", folder / "b.svs", folder / "c.svs", "--out", folder / "t.lmdb",
                               "--size", "100", "--on-error", "drop", "--pictures", folder / pictures});
    return tool(more);
  };
  const ToolResult dry = cut("dry", {"--dry-run"});
  CHECK(dry.status == 3);
  CHECK(dry.out.find("2 pictures: " + folder / "dry/a.png ... " + folder / "dry/c.png\n") != std::string::npos);
  CHECK(dry.out.find("b: can't be read") != std::string::npos);
  CHECK_FALSE(fs::exists(folder / "t.lmdb"));
  CHECK(names_in(folder / "dry") == std::vector<std::string>{"a.png", "c.png"});
  const ToolResult real = cut("real", {"--json"});
  CHECK(real.status == 3);
  CHECK(real.json()["written"] == 6);
  CHECK(real.json()["pictures"] == Json::parse(R"([{"slide": "a", "png": ")" + folder / "real/a.png" +
                                               R"("}, {"slide": "c", "png": ")" + folder / "real/c.png" + R"("}])"));
  CHECK(is_line(read_png(folder / "real/a.png"), 200, 30));
  CHECK(read_png(folder / "real/c.png") == read_png(folder / "dry/c.png"));
  const ToolResult none =
      tool({"tile", folder / "c.svs", "--out", folder / "n.lmdb", "--pictures", folder / "none", "--quiet"});
  CHECK(none.status == 1);
  CHECK(names_in(folder / "none") == std::vector<std::string>{"c.png"});
}

TEST_CASE("pictures that can't be written, and options of slides for what is none, are refused") {
  const TempFolder folder;
  write_slide(folder / "a.svs", plain);
  folder.write("file", "");
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const ToolResult result = tool(arguments);
    CHECK(one_line(result.err));
    return std::pair(result.status, result.err);
  };
  const auto [status, error] =
      refused({"tile", folder / "a.svs", "--out", folder / "t.lmdb", "--size", "64", "--pictures", folder / "file"});
  CHECK(status == 2);
  CHECK(error.find(folder / "file") != std::string::npos);
  CHECK_FALSE(fs::exists(folder / "t.lmdb"));
  CHECK(refused({"inspect", folder / "a.svs", "--picture-side", "100"}).first == 2);
  CHECK(refused({"tile", folder / "a.svs", "--out", folder / "t.lmdb", "--picture-side", "100"}).first == 2);
  CHECK(refused({"inspect", folder / "a.svs", "--png", folder / "a.png", "--picture-side", "63"}).first == 2);
  CHECK(refused({"inspect", folder / "a.svs", "--overlap", "300"}).first == 2);
  folder.write("t.csv", "a,b\n1,2\n");
  const auto [table_status, table_error] = refused({"inspect", folder / "t.csv", "--mpp", "0.5"});
  CHECK(table_status == 2);
  CHECK(table_error.find("--mpp is of slides") != std::string::npos);
}
