// SPDX-License-Identifier: Apache-2.0
// What the tool of each release has written: this one's reads it as that one did, or refuses it by name.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/tool.hpp"
#include "releases/archives.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;
namespace fs = std::filesystem;

namespace {

// Runs the tool in `folder`, so that saved paths are relative.
ToolResult tool_in(const std::string& folder, const std::string& arguments) {
  return RunningTool({"-c", "cd '" + folder + "' && exec '" + path_of("tool") + "' " + arguments}, "shell").wait();
}

#define PENSTOCK_SLIDES_TO_CUT "slides/a.tif slides/b.tif --size 32 "
#define PENSTOCK_BENCH "bench tiles.lmdb --stages 'decode_image | center_crop 32 | batch 4' --threads 1 --epochs 1 "
constexpr const char* tile = "tile " PENSTOCK_SLIDES_TO_CUT "--no-thumbnails --out tiles.lmdb";
constexpr const char* tile_indexed = "tile " PENSTOCK_SLIDES_TO_CUT "--index slides.tiles --out again.lmdb";

struct Job {
  const char* name;
  const char* arguments;
};
// In this order: later ones need what earlier ones write.
const Job writing[] = {
    {"a store and its report", tile},
    {"an index", "index " PENSTOCK_SLIDES_TO_CUT "--out slides.tiles"},
    {"rank 0", "tile " PENSTOCK_SLIDES_TO_CUT "--no-thumbnails --out ranks.lmdb --rank 0 --world 2"},
    {"rank 1", "tile " PENSTOCK_SLIDES_TO_CUT "--no-thumbnails --out ranks.lmdb --rank 1 --world 2"},
    {"a list of stores", "merge 'ranks-r*' --out ranks.json"},
    {"what a bench found", PENSTOCK_BENCH "--rounds 8 --json bench.json"},
};

}  // namespace

TEST_CASE("make what the tool writes", "[.make]") {
  const char* const release = std::getenv("PENSTOCK_RELEASE");
  REQUIRE(release != nullptr);
  const std::string folder = std::string(release) + "/tool";
  fs::create_directories(folder + "/slides");
  write_slide(folder + "/slides/a.tif", {.width = 100, .height = 70});
  write_slide(folder + "/slides/b.tif", {.width = 70, .height = 100});
  set_whole_seconds(folder);
  for (const Job& job : writing) {
    CAPTURE(job.name);
    const ToolResult ran = tool_in(folder, job.arguments);
    CAPTURE(ran.err);
    REQUIRE(ran.status == 0);
  }
}

TEST_CASE("what the tool of every release wrote is read, or refused by name") {
  for (const std::string& release : releases()) {
    CAPTURE(release);
    const TempFolder temporary;
    unpack(release, temporary.path().string());
    const std::string folder = temporary.path().string() + "/tool";
    const auto stored = content(folder + "/tiles.lmdb");
    REQUIRE_FALSE(stored.empty());
    CHECK(content(folder + "/ranks.json") == stored);
    // Refused: one line that names the version.
    const auto ran_or_refused = [&](const std::string& arguments) {
      const ToolResult ran = tool_in(folder, arguments);
      CAPTURE(arguments, ran.out, ran.err);
      if (ran.status == 0) return true;
      CHECK_FALSE(is_of_this_minor(release));
      CHECK((ran.status == 1 || ran.status == 2));
      CHECK(names_the_difference(ran.err));
      return false;
    };
    // A finished store stays as it is.
    ran_or_refused(tile);
    CHECK(content(folder + "/tiles.lmdb") == stored);
    if (ran_or_refused(tile_indexed)) CHECK(content(folder + "/again.lmdb") == stored);
    ran_or_refused("report bench.json --html bench.html");
    ran_or_refused(PENSTOCK_BENCH "--json bench.json --append");
    ran_or_refused("bench --compare bench.json bench.json");
  }
}

TEST_CASE("what the tool of a later version wrote is refused by name") {
  const TempFolder temporary;
  unpack(newest_release(), temporary.path().string());
  const std::string folder = temporary.path().string() + "/tool";
  struct Saved {
    const char* file;
    const char* before;  // the file's version ...
    const char* after;   // ... and that of a later one
    const char* reading;
  };
  const Saved files[] = {
      {"tiles.lmdb-report/run.json", "\"version\": 1,", "\"version\": 2,", tile},
      {"bench.json", "\"version\": 1", "\"version\": 2", "report bench.json"},
      {"bench.json", "\"version\": 1", "\"version\": 2", "bench --compare bench.json bench.json"},
      {"bench.json", "\"version\": 1", "\"version\": 2", PENSTOCK_BENCH "--json bench.json --append"},
      {"ranks.json", "\"version\": 1", "\"version\": 2", "verify ranks.json"},
      {"ranks.json", "\"version\": 1,\n \"form\": \"lmdb\"", "\"version\": 2,\n \"form\": 7", "verify ranks.json"},
      {"ranks.json", "\"version\": 1", "\"version\": 2", "merge ranks.json tiles.lmdb --out all.json"},
      {"slides.tiles", "\x04", "\x06", tile_indexed},
  };
  for (const Saved& saved : files) {
    CAPTURE(saved.file, saved.reading);
    const std::string path = folder + "/" + saved.file, text = text_in(path);
    const std::size_t at = text.find(saved.before);
    REQUIRE(at != std::string::npos);
    std::ofstream(path, std::ios::binary)
        << std::string(text).replace(at, std::string(saved.before).size(), saved.after);
    const ToolResult ran = tool_in(folder, saved.reading);
    CAPTURE(ran.err);
    CHECK((ran.status == 1 || ran.status == 2));
    CHECK(ran.err.find("is of version") != std::string::npos);
    std::ofstream(path, std::ios::binary) << text;
  }
}
