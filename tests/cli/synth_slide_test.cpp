// synth as a command: its options, what it refuses, and what is left where it is stopped.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "cli/slide_file.hpp"
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
Words long_drawing(const std::string& path) { return {"synth", "slide", path, "--gigapixels", "20"}; }

}  // namespace

TEST_CASE("synth: the same arguments draw the same bytes, at any number of threads") {
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

TEST_CASE("synth: tiles of JPEG 2000 are the same at any number of threads, too") {
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

TEST_CASE("synth tells what it drew") {
  const TempFolder folder;
  const ToolResult text = draw_slide(folder / "a.svs", {"--size", "1300x1100"});
  CHECK(text.out.find(folder / "a.svs" + ": 1,300 x 1,100 pixels, 2 levels, 39 tiles of 256 x 256; ") == 0);
  CHECK(one_line(text.out));
  CHECK(draw_slide(folder / "b.svs", {"--size", "99x99", "--quiet"}).out.empty());
  const Json json = draw_slide(folder / "c.ome.tif",
                               {"--size", "1300x1100", "--json", "--seed", "9", "--big-tiff", "--kind", "tumor"})
                        .json();
  CHECK(tool({"synth", "slide", "--json", folder / "e.svs", "--size", "99x99"}).json()["slide"] == folder / "e.svs");
  CHECK(json["format"] == "ome");
  CHECK(json["big_tiff"] == true);
  CHECK(json["big_endian"] == false);
  CHECK(json["kind"] == "tumor");
  CHECK(json["seed"] == 9);
  CHECK(json["finished"] == true);
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

TEST_CASE("synth never replaces a file unless it is told to") {
  const TempFolder folder;
  folder.write("a.svs", "precious");
  const Words words{"synth", "slide", folder / "a.svs", "--size", "99x99"};
  const ToolResult refused = tool(words);
  CHECK(refused.status == 2);
  CHECK(one_line(refused.err));
  CHECK(refused.err.find("is there already; --force replaces it") != std::string::npos);
  CHECK(text_in(folder / "a.svs") == "precious");
  Words forced = words;
  forced.insert(forced.end(), {"--force", "--format", "tiff"});
  CHECK(tool(forced).status == 0);
  CHECK(SlideFile(folder / "a.svs").levels()[0].width == 99);
  for (const std::string& other : {folder / "", std::string("/dev/null")}) {
    forced[2] = other;
    const ToolResult result = tool(forced);
    CHECK(result.status == 2);
    CHECK(one_line(result.err));
  }
}

TEST_CASE("synth says what is wrong with its arguments") {
  const TempFolder folder;
  const std::string out = folder / "a.svs";
  struct Case {
    Words words;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {{}, "WHAT"},
           {{"slide"}, "OUT"},
           {{"image", out}, "synth draws a slide, and not \"image\""},
           {{"slide", out, folder / "b.svs"}, "b.svs\" is one too many"},
           {{"slide", folder / "a.png"}, "name the slide X.svs, X.tif or X.ome.tif, or say its --format"},
           {{"slide", out, "--size", "100"}, "write it like 40000x30000"},
           {{"slide", out, "--size", "100x"}, "write it like 40000x30000"},
           {{"slide", out, "--size", "0x5"}, "write it like 40000x30000"},
           {{"slide", out, "--size", "-4x5"}, "write it like 40000x30000"},
           {{"slide", out, "--size", "5x1000001"}, "from 1 to 1,000,000"},
           {{"slide", out, "--size", "99x99999999999"}, "write it like 40000x30000"},
           {{"slide", out, "--size", "99x99", "--gigapixels", "1"}, "--gigapixels"},
           {{"slide", out, "--gigapixels", "0"}, "--gigapixels"},
           {{"slide", out, "--gigapixels", "nan"}, "--gigapixels"},
           {{"slide", out, "--gigapixels", "1000"}, "1,000,000 are the most"},
           {{"slide", out, "--kind", "grave"}, "--kind"},
           {{"slide", out, "--seed", "-1"}, "\"-1\" is not a whole number"},
           {{"slide", out, "--format", "dicom"}, "--format"},
           {{"slide", out, "--size", "99x99", "--levels", "8"}, "has 7 levels at most"},
           {{"slide", out, "--levels", "0"}, "--levels"},
           {{"slide", out, "--tile", "250"}, "--tile 250 is not a multiple of 16"},
           {{"slide", out, "--tile", "4096"}, "--tile"},
           {{"slide", out, "--quality", "101"}, "--quality"},
           {{"slide", out, "--subsampling", "411"}, "--subsampling"},
           {{"slide", out, "--color", "rgb", "--subsampling", "420"}, "of --color rgb each colour has all its pixels"},
           {{"slide", out, "--color", "cmyk"}, "--color"},
           {{"slide", out, "--compression", "png"}, "--compression"},
           {{"slide", out, "--compression", "jpeg2000", "--bad-tiles", "1"}, "--bad-tiles damages JPEGs"},
           {{"slide", out, "--size", "99x99", "--bad-tiles", "2"}, "--bad-tiles 2: level 0 has 1 tile"},
           {{"slide", out, "--bad-tiles", "-1"}, "is not a whole number"},
           {{"slide", out, "--bigtiff"}, "did you mean --big-tiff?"},
           {{"slide", out, "--threads", "0"}, "--threads"},
       }) {
    Words words{"synth"};
    words.insert(words.end(), c.words.begin(), c.words.end());
    const ToolResult result = tool(words);
    INFO(result.err);
    CHECK(result.status == 2);
    CHECK(one_line(result.err));
    CHECK(result.err.find(c.says) != std::string::npos);
    CHECK(result.out.empty());
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  const ToolResult nowhere = tool({"synth", "slide", folder / "missing/a.svs"});
  CHECK(nowhere.status == 1);
  CHECK(one_line(nowhere.err));
}

TEST_CASE("synth that is killed leaves nothing that looks like a slide, and the same command draws it") {
  const TempFolder folder;
  const std::string out = folder / "a.svs", partial = folder / "a.svs.partial";
  {
    RunningTool running(long_drawing(out));
    REQUIRE(wait_for_tiles(running, partial));
    // Another run can't write the same file meanwhile.
    const ToolResult second = tool({"synth", "slide", out, "--size", "99x99"});
    CHECK(second.status == 1);
    CHECK(one_line(second.err));
    CHECK(second.err.find("another process") != std::string::npos);
    CHECK(std::filesystem::file_size(partial) >= 200'000);
    running.send(SIGKILL);
    CHECK(running.wait().status == 128 + SIGKILL);
  }
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK_THROWS(SlideFile(partial));
  draw_slide(out, {"--size", "99x99"});
  CHECK(SlideFile(out).levels()[0].width == 99);
  CHECK_FALSE(std::filesystem::exists(partial));
}

TEST_CASE("synth that is stopped by a signal leaves nothing, and what was there stays") {
  const TempFolder folder;
  folder.write("a.svs", "precious");
  Words words = long_drawing(folder / "a.svs");
  words.emplace_back("--force");
  for (const int signal : {SIGINT, SIGTERM}) {
    RunningTool running(words);
    REQUIRE(wait_for_tiles(running, folder / "a.svs.partial"));
    running.send(signal);
    const ToolResult result = running.wait();
    CHECK(result.status == 128 + signal);
    CHECK(result.err.find("penstock: stopped; ") != std::string::npos);
    CHECK(result.out.empty());
    CHECK(text_in(folder / "a.svs") == "precious");
    CHECK_FALSE(std::filesystem::exists(folder / "a.svs.partial"));
  }
}

}  // namespace PENSTOCK_TEST_FILE
