// SPDX-License-Identifier: Apache-2.0
// One verdict on a JPEG, whoever gives it: verify, a loader that decodes it whole, and tile.
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/files.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock;
using namespace penstock_test;
using namespace std::string_literals;

namespace {

// As a loader makes the sample.
bool loads(const Pipeline& pipeline) {
  try {
    return pipeline.at(0)["image"].bytes() == 64 * 64 * 3;
  } catch (const Error& error) {
    if (!error.sample_scoped()) throw;
    return false;
  }
}

// A slide of one tile, which is these bytes.
void write_tile(const std::string& path, const std::string& tile) {
  const WrittenSlide slide = write_slide(path, {.width = 64, .height = 64, .own_tables = true});
  const auto at = std::filesystem::file_size(path);
  std::ofstream(path, std::ios::binary | std::ios::app) << tile;
  slide.set_offset(0, at);
  slide.set_size(0, tile.size());
}

}  // namespace

TEST_CASE("a damaged JPEG is judged alike by verify, a loader and tile") {
  const TempFolder folder;
  const WrittenSlide first = write_slide(folder / "good.svs", {.width = 64, .height = 64, .own_tables = true});
  const std::string good = text_in(folder / "good.svs").substr(first.offsets[0], first.sizes[0]);
  REQUIRE(good.ends_with("\xff\xd9"));
  const std::string open = good.substr(0, good.size() - 2), end = "\xff\xd9";
  std::string garbage = good;
  garbage.replace(good.size() / 2, 40, std::string(40, '\x55'));
  struct Case {
    const char* name;
    std::string bytes;
    bool file, tile;  // whether it is good
  };
  for (const Case& c : std::vector<Case>{
           {"sound", good, true, true},
           {"junk before its end", open + std::string(40, '\x5a') + end, false, false},
           {"zeros before its end", open + std::string(40, '\0') + end, true, true},
           {"zeros and then junk", open + std::string(40, '\0') + std::string(40, '\x5a') + end, false, false},
           {"junk after its end", good + std::string(40, '\x5a'), true, true},
           {"zeros after its end", good + std::string(40, '\0'), true, true},
           // Of a tile the file says where it ends.
           {"no end", open, false, true},
           {"no end, and junk", open + std::string(40, '\x5a'), false, false},
           {"cut off", good.substr(0, good.size() / 2), false, false},
           {"zeros from its middle on", good.substr(0, good.size() / 2) + std::string(good.size() / 2, '\0'), false,
            false},
           {"40 other bytes in its middle", garbage, false, false},
           {"a stray byte in its header", good.substr(0, 2) + "x" + good.substr(2), true, true},
       }) {
    CAPTURE(c.name);
    folder.write("files/a.jpg", c.bytes);
    const std::string files = folder / "files";
    CHECK((tool({"verify", files, "-q"}).status == 0) == c.file);
    for (const JpegOptions::Decoder by : {JpegOptions::Decoder::automatic, JpegOptions::Decoder::libjpeg})
      CHECK(loads(from(Files{.root = files}) | decode_jpeg("image", {.decoder = by})) == c.file);
    CHECK(loads(from(Files{.root = files}) | decode_image("image")) == c.file);
    CHECK(loads(from(Files{.root = files}) | decode_image("image") | check({.verify = true})) == c.file);

    const std::string slide = folder / "s.svs";
    write_tile(slide, c.bytes);
    const Slides tiles{.files = slide, .size = 64};
    CHECK(loads(from(tiles)) == c.tile);
    CHECK(loads(from(tiles) | check({.verify = true})) == c.tile);
    CHECK((tool({"verify", slide, "-q"}).status == 0) == c.tile);
    for (const std::string& how : {"--encode"s, "--verify"s, "--no-thumbnails"s}) {
      CAPTURE(how);
      const std::string out = folder / ("out" + how + ".lmdb");
      const bool whole = tool({"tile", slide, "--size", "64", "--out", out, how, "-q"}).status == 0;
      // A tile that is copied is not decoded.
      CHECK((whole && tool({"verify", out, "-q"}).status == 0) == c.tile);
      std::filesystem::remove_all(out);
      std::filesystem::remove_all(out + "-report");
    }
  }
}
