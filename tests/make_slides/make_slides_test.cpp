// SPDX-License-Identifier: Apache-2.0
// make_slides as a command: its options, what it refuses, and what is left where it is killed.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "slide_file.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;

namespace {

using Words = std::vector<std::string>;

// Until it has begun to write; false when it ends before, or a minute goes by.
bool wait_for_tiles(RunningTool& running, const std::string& partial) {
  std::error_code missing;
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::filesystem::file_size(partial, missing) < 200'000 || missing) {
    if (running.ended() || std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Takes minutes, if nobody stops it.
Words long_drawing(const std::string& path) { return {path, "--gigapixels", "20", "--force"}; }

}  // namespace

TEST_CASE("the same arguments draw the same bytes, at any number of threads") {
  const TempFolder folder;
  for (const std::string repeat : {"", "--repeat"}) {
    Words words{"--size", "1500x1100", "--tile", "128", "--bad-tiles", "4", "--force"};
    if (!repeat.empty()) words.push_back(repeat);
    std::string first;
    for (const std::string threads : {"1", "2", "7"}) {
      Words more = words;
      more.insert(more.end(), {"--threads", threads});
      draw_slide(folder / "a.svs", more);
      const std::string bytes = text_in(folder / "a.svs");
      if (first.empty()) first = bytes;
      CHECK(bytes == first);
    }
    for (const Words& other : {Words{"--seed", "1"}, Words{"--kind", "tumor"}}) {
      Words more = words;
      more.insert(more.end(), other.begin(), other.end());
      draw_slide(folder / "a.svs", more);
      CHECK(text_in(folder / "a.svs") != first);
    }
  }
}

TEST_CASE("tiles of JPEG 2000 are the same at any number of threads, too") {
  const TempFolder folder;
  std::string first;
  for (const std::string threads : {"1", "3"})
    for (const std::string name : {"a.svs", "b.svs"}) {
      draw_slide(folder / name,
                 {"--size", "500x400", "--tile", "128", "--compression", "jpeg2000", "--force", "--threads", threads});
      const std::string bytes = text_in(folder / name);
      if (first.empty()) first = bytes;
      CHECK(bytes == first);
    }
}

TEST_CASE("make_slides tells what it drew") {
  const TempFolder folder;
  const ToolResult text = draw_slide(folder / "a.svs", {"--size", "1300x1100"});
  CHECK(text.out.find(folder / "a.svs" + ": 1,300 x 1,100 pixels, 2 levels, 39 tiles of 256 x 256; ") == 0);
  CHECK(one_line(text.out));
  CHECK(draw_slide(folder / "b.svs", {"--size", "99x99", "--quiet"}).out.empty());
  const Json json = draw_slide(folder / "c.ome.tif",
                               {"--size", "1300x1100", "--json", "--seed", "9", "--big-tiff", "--kind", "tumor"})
                        .json();
  CHECK(make_slides({"--json", folder / "e.svs", "--size", "99x99"}).json()["slide"] == folder / "e.svs");
  CHECK(json["format"] == "ome");
  CHECK(json["big_tiff"] == true);
  CHECK(json["big_endian"] == false);
  CHECK(json["kind"] == "tumor");
  CHECK(json["seed"] == 9);
  CHECK(json["microns_per_pixel"] == 0.5);
  CHECK(json["tile"] == 256);
  CHECK(json["tiles"] == 39);
  CHECK(json["bytes"] == std::filesystem::file_size(folder / "c.ome.tif"));
  CHECK(json["bad_tiles"].empty());
  REQUIRE(json["levels"].size() == 2);
  CHECK(json["levels"][1] == Json::parse(R"({"width": 650, "height": 550, "columns": 3, "rows": 3})"));
  CHECK(draw_slide(folder / "d.tif", {"--json"}).json()["format"] == "tiff");
  const SlideFile usual(folder / "d.tif");
  CHECK(usual.levels()[0].width == 3536);
  CHECK(usual.levels()[0].height == 2828);
  CHECK(usual.levels().size() == 3);
}

TEST_CASE("make_slides never replaces a file unless it is told to") {
  const TempFolder folder;
  folder.write("a.svs", "precious");
  const Words words{folder / "a.svs", "--size", "99x99"};
  const ToolResult refused = make_slides(words);
  CHECK(refused.status == 2);
  CHECK(one_line(refused.err));
  CHECK(refused.err.find("is there already; --force replaces it") != std::string::npos);
  CHECK(text_in(folder / "a.svs") == "precious");
  Words forced = words;
  forced.insert(forced.end(), {"--force", "--format", "tiff"});
  CHECK(make_slides(forced).status == 0);
  CHECK(SlideFile(folder / "a.svs").levels()[0].width == 99);
  for (const std::string& other : {folder / "", std::string("/dev/null")}) {
    forced[0] = other;
    const ToolResult result = make_slides(forced);
    CHECK(result.status == 2);
    CHECK(one_line(result.err));
  }
}

TEST_CASE("make_slides says what is wrong with its arguments") {
  const TempFolder folder;
  const std::string out = folder / "a.svs";
  struct Case {
    Words words;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {{}, "OUT"},
           {{out, folder / "b.svs"}, "b.svs"},
           {{folder / "a.png"}, "name the slide X.svs, X.tif or X.ome.tif, or say its --format"},
           {{out, "--size", "100"}, "write it like 40000x30000"},
           {{out, "--size", "100x"}, "write it like 40000x30000"},
           {{out, "--size", "0x5"}, "write it like 40000x30000"},
           {{out, "--size", "-4x5"}, "write it like 40000x30000"},
           {{out, "--size", "5x1000001"}, "from 1 to 1000000"},
           {{out, "--size", "99x99999999999"}, "write it like 40000x30000"},
           {{out, "--size", "99x99", "--gigapixels", "1"}, "--gigapixels"},
           {{out, "--gigapixels", "0"}, "--gigapixels"},
           {{out, "--gigapixels", "nan"}, "--gigapixels"},
           {{out, "--gigapixels", "1000"}, "1000000 are the most"},
           {{out, "--kind", "grave"}, "--kind"},
           {{out, "--seed", "-1"}, "--seed"},
           {{out, "--format", "dicom"}, "--format"},
           {{out, "--size", "99x99", "--levels", "8"}, "--levels 8: 7 are the most"},
           {{out, "--levels", "0"}, "--levels"},
           {{out, "--tile", "250"}, "--tile 250 is not a multiple of 16"},
           {{out, "--tile", "4096"}, "--tile"},
           {{out, "--quality", "101"}, "--quality"},
           {{out, "--subsampling", "411"}, "--subsampling"},
           {{out, "--color", "rgb", "--subsampling", "420"}, "of --color rgb each colour has all its pixels"},
           {{out, "--color", "cmyk"}, "--color"},
           {{out, "--compression", "png"}, "--compression"},
           {{out, "--compression", "jpeg2000", "--bad-tiles", "1"}, "--bad-tiles damages JPEGs"},
           {{out, "--size", "99x99", "--bad-tiles", "2"}, "--bad-tiles 2: more than the 1 of level 0"},
           {{out, "--bad-tiles", "-1"}, "--bad-tiles"},
           {{out, "--bigtiff"}, "--bigtiff"},
           {{out, "--threads", "0"}, "--threads"},
       }) {
    const ToolResult result = make_slides(c.words);
    INFO(result.err);
    CHECK(result.status == 2);
    CHECK(one_line(result.err));
    CHECK(result.err.find(c.says) != std::string::npos);
    CHECK(result.out.empty());
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  const ToolResult nowhere = make_slides({folder / "missing/a.svs"});
  CHECK(nowhere.status == 1);
  CHECK(one_line(nowhere.err));
}

TEST_CASE("make_slides that is killed leaves what was there, and the same command draws the slide") {
  const TempFolder folder;
  folder.write("a.svs", "precious");
  const std::string out = folder / "a.svs", partial = folder / "a.svs.partial";
  {
    RunningTool running(long_drawing(out), "make_slides");
    REQUIRE(wait_for_tiles(running, partial));
    running.send(SIGKILL);
    CHECK(running.wait().status == 128 + SIGKILL);
  }
  CHECK(text_in(out) == "precious");
  CHECK_THROWS(SlideFile(partial));
  draw_slide(out, {"--size", "99x99", "--force"});
  CHECK(SlideFile(out).levels()[0].width == 99);
  CHECK_FALSE(std::filesystem::exists(partial));
}

}  // namespace PENSTOCK_TEST_FILE
