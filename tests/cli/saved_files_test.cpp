// SPDX-License-Identifier: Apache-2.0
// Files that the tool has saved and finds empty, or cut off: it makes them anew, or names them and says what to do.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Saved {
  TempFolder folder;
  Saved() {
    write_images(folder, 2, 12);
    fs::create_directory(folder / "slides");
    for (const char* const name : {"a", "b"}) {
      const WrittenSlide slide = write_slide(folder / ("slides/" + std::string(name) + ".svs"),
                                             {.width = 256, .height = 160, .tile_width = 32, .tile_height = 32});
      if (*name == 'a') slide.set_size(13, 0);
    }
    for (const Words& words :
         {pack("x.tar"), pack("raw.lmdb", {"--lsun"}), tile("t.lmdb"), tile("s.tar", {"--rank", "0", "--world", "2"}),
          tile("s.tar", {"--rank", "1", "--world", "2"}), merge(), index(),
          Words{"merge", folder / "t.lmdb", "--out", folder / "list.json"},
          Words{"bench", folder / "slides/b.svs", "--stages", "batch 4", "--epochs", "1", "--json",
                folder / "bench.json"}}) {
      const ToolResult made = tool(words);
      CAPTURE(words, made.err);
      REQUIRE((made.status == 0 || made.status == 3));
    }
  }
  Words with(Words words, const Words& more) const {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Words pack(const std::string& out, const Words& more = {}) const {
    return with({"pack", folder / "images", "--out", folder / out, "--threads", "1"}, more);
  }
  Words tile(const std::string& out, const Words& more = {}) const {
    return with({"tile", folder / "slides", "--size", "32", "--out", folder / out, "--threads", "1"}, more);
  }
  Words merge() const { return {"merge", folder / "s-r*-of-2-*.tar", "--out", folder / "joined.json"}; }
  Words index() const { return {"index", folder / "slides", "--size", "32", "--out", folder / "slides.tiles"}; }
};

}  // namespace

TEST_CASE("a saved file that is empty or cut off is named and it is said what to do") {
  const Saved saved;
  fs::copy_file(saved.folder / "raw.lmdb/made-by.json", saved.folder / "raw.lmdb/unfinished.json");
  fs::copy_file(saved.folder / "x.tar-made-by.json", saved.folder / "y.tar-unfinished.json");
  struct Case {
    std::string file;
    Words words;
    std::string advice;
  };
  const std::string anew = "delete the store, or write to another path";
  const Case cases[] = {
      {"x.tar-made-by.json", saved.pack("x.tar"), anew},
      {"y.tar-unfinished.json", saved.pack("y.tar"), anew},
      {"raw.lmdb/unfinished.json", saved.pack("raw.lmdb", {"--lsun"}), anew},
      {"raw.lmdb/made-by.json", saved.pack("raw.lmdb", {"--lsun"}), anew},
      {"t.lmdb-report/run.json", saved.tile("t.lmdb"), "delete this folder and the store, and run again"},
      {"s-r1-of-2.tar-report/run.json", saved.merge(), "delete this folder and the store, and run again"},
      {"s-r1-of-2.tar-report/slides/b.json", saved.merge(), "delete it, and run the rank again"},
      {"slides.tiles", saved.tile("u.lmdb", {"--index", saved.folder / "slides.tiles"}), "make"},
      {"list.json", {"inspect", saved.folder / "list.json"}, "merge them again"},
      {"bench.json", {"report", saved.folder / "bench.json"}, "is no result of penstock bench --json"},
  };
  for (const Case& one : cases) {
    const std::string file = saved.folder / one.file, whole = text_in(file);
    REQUIRE(whole.size() > 10);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 3}) {
      std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, bytes);
      const ToolResult told = tool(one.words);
      CAPTURE(one.file, bytes, told.out, told.err);
      CHECK((told.status == 1 || told.status == 2));
      CHECK(one_line(told.err));
      CHECK(told.err.find(one.file) != std::string::npos);
      CHECK(told.err.find(one.advice) != std::string::npos);
    }
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole;
    if (one.file.ends_with("unfinished.json")) fs::remove(file);
  }
}

TEST_CASE("a file of a finished job's report that is empty or gone is made anew") {
  const Saved saved;
  const std::string report = saved.folder / "t.lmdb-report/";
  for (const std::string name :
       {"slides/a.json", "slides/b.json", "slides.csv", "index.html", "pictures/a.png", "left-out.jsonl"}) {
    const std::string whole = text_in(report + name);
    REQUIRE(whole.size() > 10);
    for (const bool gone : {false, true}) {
      if (gone && name.starts_with("pictures")) continue;  // who wants none has deleted it
      std::ofstream(report + name, std::ios::binary | std::ios::trunc);
      if (gone) fs::remove(report + name);
      const ToolResult again = tool(saved.tile("t.lmdb"));
      CAPTURE(name, gone, again.out, again.err);
      CHECK(again.status == 3);
      CHECK(text_in(report + name) == whole);
    }
  }
  // So a rank whose report has lost a file is run again, as it is said.
  const std::string details = saved.folder / "s-r1-of-2.tar-report/slides/b.json";
  std::ofstream(details, std::ios::binary | std::ios::trunc);
  CHECK(tool(saved.merge()).status == 1);
  CHECK(tool(saved.tile("s.tar", {"--rank", "1", "--world", "2"})).status == 0);
  CHECK(tool(saved.merge()).status == 0);
}
