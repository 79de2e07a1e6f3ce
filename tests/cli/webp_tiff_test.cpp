// SPDX-License-Identifier: Apache-2.0
// Folders with WebP and TIFF, as the tool packs, checks, shows and decodes them.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/tool.hpp"
#include "support/catch.hpp"
#include "transforms/codec/tiff/tiff_files.hpp"
#include "transforms/codec/webp/webp_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;

namespace {

std::string text_of(const Bytes& file) { return {reinterpret_cast<const char*>(file.data()), file.size()}; }

// Pictures of four formats in one class.
void write_pictures(const TempFolder& folder) {
  for (unsigned i = 0; i < 4; ++i) {
    const std::string name = "images/c/" + std::to_string(i);
    folder.write(name + ".jpg", jpeg(i));
    folder.write(name + ".webp", text_of(webp_file({30, 40}, webp_kinds()[i], i)));
    folder.write(name + ".tif", text_of(TiffFile({.tile = i % 2 == 0 ? 0 : 16}, {30, 40}, i).bytes()));
    folder.write(name + "b.tiff", text_of(TiffFile({.bits = 16, .mode = "wb8"}, {30, 40}, i).bytes()));
  }
}

Bytes two_pages() {
  return written("wl", [](::TIFF* tiff) {
    for (std::uint64_t page = 0; page < 2; ++page) TiffFile({}, {20, 21}, page).write(tiff);
  });
}

}  // namespace

TEST_CASE("WebP and TIFF are packed without a warning, are good, and are counted and drawn") {
  const TempFolder folder;
  write_pictures(folder);
  const ToolResult packed = tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--json"});
  REQUIRE(packed.status == 0);
  CHECK(packed.err.empty());
  for (const char* const name : {"x.lmdb", "images"}) {
    const std::string store = folder / name;
    const ToolResult verified = tool({"verify", store, "--json"});
    CHECK(verified.status == 0);
    CHECK(verified.json()["decoded"] == 16);
    const ToolResult inspected = tool({"inspect", store, "--png", folder / "sheet.png", "--json"});
    REQUIRE(inspected.status == 0);
    CHECK(inspected.json()["images"] == Json::parse(R"({"jpeg": 4, "tiff": 8, "webp": 4})"));
    CHECK(inspected.json()["unreadable"] == 0);
    CHECK(std::filesystem::file_size(folder / "sheet.png") > 1000);
  }
}

TEST_CASE("damaged WebP and TIFF, and TIFFs of several pages, are bad records") {
  const TempFolder folder;
  write_pictures(folder);
  const std::string webp = text_of(webp_file({30, 40}, {}, 1)), tiff = text_of(TiffFile({}, {30, 40}, 1).bytes());
  folder.write("images/c/cut.webp", webp.substr(0, webp.size() / 2));
  folder.write("images/c/cut.tif", tiff.substr(0, tiff.size() / 2));
  folder.write("images/c/pages.tif", text_of(two_pages()));
  const ToolResult verified = tool({"verify", folder / "images", "--json"});
  CHECK(verified.status == 3);
  CHECK(verified.json()["bad"].size() == 3);
  CHECK(verified.out.find("the TIFF has 2 pages") != std::string::npos);
  CHECK(verified.out.find("it is cut off") != std::string::npos);
  CHECK(tool({"inspect", folder / "images", "--json"}).json()["unreadable"] == 3);
}

TEST_CASE("stages of the tool decode WebP and TIFF") {
  const TempFolder folder;
  for (unsigned i = 0; i < 4; ++i) {
    folder.write("webp/" + std::to_string(i) + ".webp", text_of(webp_file({30, 40}, webp_kinds()[i], i)));
    folder.write("tiff/" + std::to_string(i) + ".tif", text_of(two_pages()));
  }
  const auto status = [&](const std::string& store, const std::string& stages) {
    const ToolResult result =
        tool({"bench", folder / store, "--stages", stages + " | resize 8 | batch 2", "--epochs", "1"});
    CAPTURE(result.err);
    return result.status;
  };
  CHECK(status("webp", "decode_webp color=rgba max_pixels=1200") == 0);
  CHECK(status("webp", "decode_image color=gray") == 0);
  CHECK(status("webp", "decode_webp max_pixels=1199") != 0);
  CHECK(status("tiff", "decode_tiff page=1 color=gray apply_orientation=true high_byte=true") == 0);
  CHECK(status("tiff", "decode_image page=0") == 0);
  CHECK(status("tiff", "decode_image page=2") != 0);
  CHECK(status("tiff", "decode_tiff") != 0);
}

}  // namespace PENSTOCK_TEST_FILE
