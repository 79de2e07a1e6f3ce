// SPDX-License-Identifier: Apache-2.0
// What penstock tile, and merge, do to files that are not theirs, and to what others have begun.
#include <sys/types.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

namespace fs = std::filesystem;

// A folder of two slides.
struct Project {
  TempFolder folder;
  Project() {
    fs::create_directory(folder / "slides");
    write_slide(folder / "slides/a.svs", {.width = 330, .height = 270});
    write_slide(folder / "slides/b.svs", {.width = 200, .height = 140, .seed = 1});
  }
  ToolResult tile(const std::string& out, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"tile", folder / "slides", "--out", folder / out, "--size", "64"});
    return tool(more);
  }
};

}  // namespace

TEST_CASE("a report is written into a folder of its own, and nobody's files go") {
  const Project project;
  const TempFolder& folder = project.folder;
  folder.write("index.html", "mine");
  const std::string slide = text_in(folder / "slides/a.svs");
  for (const std::string& report : std::vector<std::string>{folder.path().string(), folder / "slides"}) {
    const ToolResult refused = project.tile("t.tar", {"--report", report});
    CAPTURE(report, refused.err);
    CHECK(refused.status == 1);
    CHECK(one_line(refused.err));
    CHECK(refused.err.find("a report needs a folder of its own") != std::string::npos);
  }
  CHECK(text_in(folder / "slides/a.svs") == slide);
  CHECK(text_in(folder / "index.html") == "mine");
  CHECK_FALSE(fs::exists(folder / ".lock"));
  CHECK_FALSE(fs::exists(folder / "t-000000.tar"));
  folder.write("other/run.json", "{\"lr\": 0.1}");
  CHECK(project.tile("t.tar", {"--report", folder / "other"}).status == 1);
  CHECK(text_in(folder / "other/run.json") == "{\"lr\": 0.1}");
  fs::create_directory(folder / "empty");
  CHECK(project.tile("t.tar", {"--report", folder / "empty"}).status == 0);
}

TEST_CASE("lists of places of other ranks, and files that are no lists, stay") {
  const Project project;
  const TempFolder& folder = project.folder;
  write_slide(folder / "slides/small.svs", {.width = 40, .height = 40});
  folder.write("lists/patches/small.h5", "somebody's");
  for (const std::string rank : {"0", "1", "2"}) {
    const ToolResult listed =
        tool({"tile", folder / "slides", "--size", "64", "--coords", folder / "lists", "--rank", rank, "--world", "3"});
    CAPTURE(listed.err);
    CHECK(listed.status == 0);
  }
  CHECK(fs::exists(folder / "lists/patches/a.h5"));
  CHECK(fs::exists(folder / "lists/patches/b.h5"));
  CHECK(text_in(folder / "lists/patches/small.h5") == "somebody's");
  // A slide that can't be read just now keeps its list; one that has no tile any more does not.
  const std::string list = text_in(folder / "lists/patches/a.h5");
  fs::rename(folder / "slides/a.svs", folder / "a.svs");
  folder.write("slides/a.svs", "no slide");
  CHECK(tool({"tile", folder / "slides", "--size", "150", "--coords", folder / "lists"}).status == 3);
  CHECK(text_in(folder / "lists/patches/a.h5") == list);
  CHECK_FALSE(fs::exists(folder / "lists/patches/b.h5"));
}

TEST_CASE("a tile whose data is damaged is not stored as a sound one because it is encoded anew") {
  const TempFolder folder;
  REQUIRE(make_slides({folder / "bad.svs", "--size", "2000x1500", "--bad-tiles", "5", "-q"}).status == 0);
  const auto bad = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.begin(), {"tile", folder / "bad.svs", "--out", folder / out, "--no-thumbnails", "--json"});
    const ToolResult made = tool(more);
    CAPTURE(made.err);
    REQUIRE(made.status == 3);
    return made.json()["bad"].size();
  };
  const std::size_t all = bad("verified.lmdb", {"--encode", "--verify"});
  CHECK(bad("encoded.lmdb", {"--encode"}) == all);
  CHECK(bad("png.lmdb", {"--encoding", "png"}) == all);
  CHECK(bad("pixels.h5", {"--encoding", "none"}) == all);
}

TEST_CASE("an option without its value takes no other word for it") {
  const Project project;
  const TempFolder& folder = project.folder;
  const ToolResult refused = project.tile("t.lmdb", {"--report=", "--tissue=saturation"});
  CHECK(refused.status == 2);
  CHECK(refused.err.find("--report= lacks its value") != std::string::npos);
  folder.write("s.toml",
               fmt::format("slides = \"{0}/slides\"\nout = \"{0}/s.lmdb\"\nreport = \"\"\nlabels = \"\"\nsize = 128\n",
                           folder.path().string()));
  REQUIRE(tool({"tile", "--settings", folder / "s.toml"}).status == 0);
  const auto run = Json::parse(text_in(folder / "s.lmdb-report/run.json"));
  CHECK(run["settings"]["size"] == 128);
}

TEST_CASE("a run that ends at the first bad tile is gone on with by one that leaves it out, and the other way round") {
  for (const std::string kind : {"tar", "h5", "lmdb"}) {
    const Project project;
    const TempFolder& folder = project.folder;
    const WrittenSlide slide = write_slide(folder / "slides/a.svs", {.width = 330, .height = 270});
    slide.set_size(9, 0);
    const ToolResult failed = project.tile("t." + kind, {"--on-error", "fail"});
    CAPTURE(kind, failed.err);
    CHECK(failed.status == 1);
    CHECK(failed.err.find("the tile at x 192, y 64 of level 0: it is empty") != std::string::npos);
    CHECK(project.tile("t." + kind, {"--on-error", "fail"}).err == failed.err);
    const ToolResult made = project.tile("t." + kind);
    CAPTURE(made.err);
    CHECK(made.status == 3);
    REQUIRE(project.tile("u." + kind).status == 3);
    if (kind == "lmdb")
      CHECK(content(folder / "t.lmdb") == content(folder / "u.lmdb"));
    else
      CHECK(text_in(folder / (kind == "tar" ? "t-000000.tar" : "t.h5")) ==
            text_in(folder / (kind == "tar" ? "u-000000.tar" : "u.h5")));
  }
}

TEST_CASE("the report of a run that was stopped tells which slides it did not come to") {
  const TempFolder folder;
  fs::create_directory(folder / "slides");
  for (const std::string name : {"a.svs", "b.svs", "c.svs"})
    write_slide(folder / ("slides/" + name), {.width = 6400, .height = 6400});
  RunningTool running({"tile", folder / "slides", "--out", folder / "t.tar", "--size", "32", "--encode", "--threads",
                       "1", "--no-sync"});
  while (!running.ended() && !fs::exists(folder / "t-000000.tar.partial")) continue;
  running.send(SIGINT);
  const ToolResult stopped = running.wait();
  CAPTURE(stopped.err);
  REQUIRE(stopped.status == 130);
  const std::string table = text_in(folder / "t.tar-report/slides.csv");
  CAPTURE(table);
  CHECK(table.find("\nc," + (folder / "slides/c.svs") + ",not finished,0,") != std::string::npos);
  CHECK(table.find(",done,40000,") == table.rfind(",done,40000,"));  // one at most
}

TEST_CASE("names that JSON can't hold, and long ones, are told apart") {
  const TempFolder folder;
  fs::create_directory(folder / "slides");
  const std::string long_name(240, 'n');
  for (const std::string& name : std::vector<std::string>{"K\xf6ln", "K\xe4ln", long_name})
    write_slide(folder / ("slides/" + name + ".svs"), {.width = 130, .height = 130});
  const std::vector<std::string> words{"tile", folder / "slides", "--out", folder / "t.tar", "--size", "64"};
  const ToolResult made = tool(words);
  CAPTURE(made.err);
  REQUIRE(made.status == 0);
  CHECK(fs::exists(folder / "t.tar-report/slides/K\\xf6ln.json"));
  CHECK(fs::exists(folder / "t.tar-report/slides/K\\xe4ln.json"));
  const ToolResult again = tool(words);
  CAPTURE(again.err);
  CHECK(again.status == 0);
}

TEST_CASE("slides are called the same however their folders are spelled") {
  const TempFolder folder;
  fs::create_directory(folder / "A");
  write_slide(folder / "s.svs", {.width = 130, .height = 130});
  write_slide(folder / "A/s.svs", {.width = 130, .height = 130});
  const auto keys = [&](const std::string& first, const std::string& second) {
    const std::string out = folder / fmt::format("{}.lmdb", first.size() + second.size());
    REQUIRE(tool({"tile", first, second, "--out", out, "--size", "64", "--no-thumbnails"}).status == 0);
    std::vector<std::string> all;
    for (const auto& [key, value] : content(out)) all.push_back(key);
    return all;
  };
  const auto plain = keys(folder / "s.svs", folder / "A/s.svs");
  CHECK(plain.front() == "A/s/000000_000000");
  CHECK(keys(folder / "./s.svs", folder / "A/.//s.svs") == plain);
  CHECK(keys(folder / "A/../s.svs", folder / "A/s.svs") == plain);
}

TEST_CASE("a list of slides whose first line is one, and lines that lead nowhere") {
  const Project project;
  const TempFolder& folder = project.folder;
  folder.write("bare.csv", "slides/a.svs\nslides/b.svs\n");
  const ToolResult bare = tool({"tile", "--list", folder / "bare.csv", "--out", folder / "t.lmdb", "--size", "64"});
  CHECK(bare.status == 2);
  CHECK(bare.err.find("has no header") != std::string::npos);
  fs::create_directory(folder / "dir.svs");
  folder.write("list.txt", "slides/a.svs\nmissing[1].svs\ndir.svs\n");
  const ToolResult made =
      tool({"tile", "--list", folder / "list.txt", "--out", folder / "t.lmdb", "--size", "64", "--json"});
  CAPTURE(made.err);
  CHECK(made.status == 3);
  CHECK(made.json()["bad"].size() == 2);
  CHECK(made.json()["written"] == 20);
}

TEST_CASE("what is gone of a finished report is written again") {
  const Project project;
  REQUIRE(project.tile("t.tar").status == 0);
  const std::string report = project.folder / "t.tar-report/";
  const std::string page = text_in(report + "index.html"), run = text_in(report + "run.json");
  fs::remove(report + "index.html");
  CHECK(project.tile("t.tar").status == 0);
  CHECK(text_in(report + "index.html") == page);
  CHECK(text_in(report + "run.json") == run);
}

TEST_CASE("a list replaces a list and nothing else, and names no store and its copy") {
  const Project project;
  const TempFolder& folder = project.folder;
  for (const std::string rank : {"0", "1"})
    REQUIRE(project.tile("t.tar", {"--rank", rank, "--world", "2"}).status == 0);
  const auto merge = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "merge");
    return tool(words);
  };
  const std::string pattern = folder / "t-r*.tar";
  folder.write("config.json", "{\"lr\": 0.1}");
  folder.write("all.new.json", "mine");
  CHECK(merge({pattern, "--out", folder / "config.json"}).status == 2);
  CHECK(text_in(folder / "config.json") == "{\"lr\": 0.1}");
  REQUIRE(merge({pattern, "--out", folder / "all.json"}).status == 0);
  CHECK(merge({pattern, "--out", folder / "all.json"}).status == 0);
  CHECK(text_in(folder / "all.new.json") == "mine");
  REQUIRE(project.tile("one.tar").status == 0);
  fs::create_directory(folder / "copy");
  fs::copy_file(folder / "one-000000.tar", folder / "copy/one-000000.tar");
  const ToolResult twice =
      merge({folder / "one-000000.tar", folder / "copy/one-000000.tar", "--out", folder / "twice.json"});
  CHECK(twice.status == 0);
  CHECK(twice.out.find("is one a copy of the other?") != std::string::npos);
}

TEST_CASE("a pattern passes locks over, and an error names the list that is asked for") {
  const Project project;
  const TempFolder& folder = project.folder;
  for (const std::string rank : {"0", "1"})
    REQUIRE(project.tile("t.mdb", {"--rank", rank, "--world", "2"}).status == 0);
  REQUIRE(fs::exists(folder / "t-r0-of-2.mdb-lock"));
  CHECK(tool({"merge", folder / "t-r*", "--out", folder / "t.json"}).status == 0);
  CHECK_FALSE(fs::exists(folder / "t-r0-of-2.mdb-lock-lock"));
  folder.write("bad.json", "{\"penstock\": \"stores\", \"form\": 3}");
  const ToolResult refused = tool({"inspect", folder / "bad.json"});
  CAPTURE(refused.err);
  CHECK(refused.status == 1);
  CHECK(refused.err.find("bad.json") != std::string::npos);
}

TEST_CASE("lists and pictures may lie in the report's folder, and a value may end in =") {
  const Project project;
  const TempFolder& folder = project.folder;
  for (int run = 0; run < 2; ++run)
    CHECK(
        project
            .tile("t.lmdb", {"--coords", folder / "t.lmdb-report/lists", "--pictures", folder / "t.lmdb-report/drawn"})
            .status == 0);
  CHECK(fs::exists(folder / "t.lmdb-report/lists/patches/a.h5"));
  CHECK(tool({"tile", folder / "slides", "--out=" + (folder / "run="), "--size", "64"}).status == 0);
}

TEST_CASE("ranks of other jobs are refused, and what differs is named") {
  const Project project;
  const TempFolder& folder = project.folder;
  REQUIRE(project.tile("t.lmdb", {"--rank", "0", "--world", "2"}).status == 0);
  REQUIRE(project.tile("t.lmdb", {"--rank", "1", "--world", "2", "--quality", "80"}).status == 0);
  const ToolResult refused = tool({"merge", folder / "t-r*.lmdb", "--out", folder / "t.json"});
  CHECK(refused.status == 1);
  CAPTURE(refused.err);
  CHECK(refused.err.find("--quality was 90, and is 80 now") != std::string::npos);
}

TEST_CASE("shards of a rank that has no tile say nothing of the fields") {
  const TempFolder folder;
  folder.write("slides/a.svs", std::string(3000, 'x'));
  folder.write("slides/b.svs", std::string(3000, 'x'));
  write_slide(folder / "slides/c.svs", {.width = 200, .height = 140});
  write_slide(folder / "slides/d.svs", {.width = 200, .height = 140});
  for (int rank = 0; rank < 4; ++rank)
    tool({"tile", folder / "slides", "--out", folder / "t.tar", "--size", "64", "--rank", std::to_string(rank),
          "--world", "4"});
  REQUIRE(tool({"merge", folder / "t-r*.tar", "--out", folder / "t.json"}).status == 0);
  const ToolResult shown = tool({"inspect", folder / "t.json"});
  CHECK(shown.out.find("image: u8") != std::string::npos);
  CHECK(tool({"convert", folder / "t.json", "--out", folder / "t.lmdb"}).status == 0);
  CHECK(content(folder / "t.lmdb").size() == 12);
}
