// SPDX-License-Identifier: Apache-2.0
// penstock tile where something can't be read: what is left out is told, stays so, and comes when it is asked for
// again.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "cli/tile_cohort.hpp"
#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

namespace fs = std::filesystem;

// Every file below a folder.
std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder).string()] = text_in(entry.path().string());
  return files;
}

}  // namespace

TEST_CASE("what was left out stays left out, until it is asked for again") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  REQUIRE(tool(cohort.words("whole.lmdb")).status == 0);
  SecretChange damage(cohort.a.path);
  cohort.a.overwrite(cohort.a.offsets[9], Bytes(cohort.a.sizes[9], std::byte{0x33}));
  cohort.a.overwrite(cohort.a.offsets[14], Bytes(cohort.a.sizes[14], std::byte{0x33}));
  damage.keep_times();
  const ToolResult made = tool(cohort.words("t.lmdb", {"--json"}));
  CHECK(made.status == 3);
  REQUIRE(made.json()["bad"].size() == 2);
  const auto first = made.json()["bad"][0];
  CHECK(first["key"] == "a/000064_000192");
  CHECK(first["file"] == cohort.a.path);
  CHECK(first["level"] == 0);
  CHECK(first["x"] == 192);
  CHECK(first["y"] == 64);
  CHECK(first["code"] == "corrupt");
  CHECK(tool(cohort.words("t.tar")).status == 3);
  CHECK(tool(cohort.words("t.h5")).status == 3);
  CHECK(tool(cohort.words("t.folder")).status == 3);
  const auto before = files_in(folder.path().string());

  damage.undo();
  for (const std::string out : {"t.lmdb", "t.tar", "t.h5", "t.folder"}) {
    const ToolResult again = tool(cohort.words(out, {"--json"}));
    CAPTURE(out, again.err);
    CHECK(again.status == 3);
    CHECK(again.json()["was_finished"] == true);
    CHECK(again.json()["bad"].size() == 2);
    CHECK(again.json()["dropped"] == 2);
    CHECK(again.json()["skipped"] == 24);
  }
  auto after = files_in(folder.path().string());
  for (const char* const changes : {"slides/a.svs", "t.lmdb/lock.mdb"})
    for (auto* files : {&after}) (*files)[changes] = before.at(changes);
  for (const auto& [name, content] : before) {
    CAPTURE(name);
    CHECK((after.contains(name) && after[name] == content));
  }
  CHECK(after.size() == before.size());

  for (const std::string out : {"t.tar", "t.h5", "t.folder"}) {
    const ToolResult refused = tool(cohort.words(out, {"--retry"}));
    CHECK(refused.status == 2);
    CHECK(refused.err.find("only an LMDB store takes tiles later") != std::string::npos);
  }
  const ToolResult retried = tool(cohort.words("t.lmdb", {"--retry", "--json"}));
  CAPTURE(retried.err);
  CHECK(retried.status == 0);
  CHECK(retried.json()["written"] == 2);
  CHECK(content(folder / "t.lmdb") == content(folder / "whole.lmdb"));
  CHECK_FALSE(fs::exists(folder / "t.lmdb-report/left-out.jsonl"));
  const ToolResult nothing = tool(cohort.words("t.lmdb", {"--retry", "--json"}));
  CHECK(nothing.status == 0);
  CHECK(nothing.json()["was_finished"] == true);
}

TEST_CASE("asking again for what is still bad leaves it out again") {
  Cohort cohort;
  cohort.a.overwrite(cohort.a.offsets[9], Bytes(cohort.a.sizes[9], std::byte{0x33}));
  REQUIRE(tool(cohort.words("t.lmdb")).status == 3);
  const std::string listed = text_in(cohort.folder / "t.lmdb-report/left-out.jsonl");
  CHECK(std::count(listed.begin(), listed.end(), '\n') == 1);
  for (int again = 0; again < 2; ++again) {
    CHECK(tool(cohort.words("t.lmdb", {"--retry"})).status == 3);
    CHECK(text_in(cohort.folder / "t.lmdb-report/left-out.jsonl") == listed);
    CHECK(keys_in(cohort.folder / "t.lmdb").size() == 25);
  }
}

TEST_CASE("a list of what was left out that is cut off, or damaged") {
  Cohort cohort;
  cohort.a.set_size(9, 0);
  cohort.a.set_size(14, 0);
  REQUIRE(tool(cohort.words("t.tar")).status == 3);
  const std::string file = cohort.folder / "t.tar-report/left-out.jsonl", whole = text_in(file);
  // What was committed comes before tiles that come after it, so a line that is cut off is of the end.
  std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, whole.size() - 7);
  const auto again = tool(cohort.words("t.tar", {"--json"}));
  CHECK(again.status == 3);
  CHECK(again.json()["bad"].size() == 2);
  CHECK(text_in(file) == whole);
  std::ofstream(file, std::ios::binary | std::ios::trunc) << "no JSON\n";
  const ToolResult refused = tool(cohort.words("t.tar"));
  CHECK(refused.status == 1);
  CHECK(one_line(refused.err));
  CHECK(refused.err.find("left-out.jsonl") != std::string::npos);
}

TEST_CASE("what is listed as left out, and is in the store, is listed no more") {
  Cohort cohort;
  REQUIRE(tool(cohort.words("t.lmdb")).status == 0);
  // What a run leaves that asked again, and was killed.
  cohort.folder.write(
      "t.lmdb-report/left-out.jsonl",
      R"({"key":"a/000000_000064","slide":"a","file":"a.svs","whole_slide":false,"level":0,"x":64,"y":0,)"
      R"("code":"io","cause":"x"})"
      "\n");
  const ToolResult again = tool(cohort.words("t.lmdb", {"--json"}));
  CAPTURE(again.err);
  CHECK(again.status == 0);
  CHECK(again.json()["bad"].empty());
  CHECK(again.json()["skipped"] == 26);
  CHECK_FALSE(fs::exists(cohort.folder / "t.lmdb-report/left-out.jsonl"));
}

TEST_CASE("a slide that is listed as a whole, and then a tile of it, could be opened after all") {
  Cohort cohort;
  REQUIRE(tool(cohort.words("t.lmdb")).status == 0);
  const auto line = [](const std::string& slide, const std::string& of_tile) {
    return R"({"key":")" + slide + (of_tile.empty() ? "/whole" : "/tile") + R"(","slide":")" + slide +
           R"(","file":"x","whole_slide":)" + (of_tile.empty() ? "true" : "false" + of_tile) +
           R"(,"code":"io","cause":"x"})"
           "\n";
  };
  const std::string at = R"(,"level":0,"x":0,"y":0)";
  cohort.folder.write("t.lmdb-report/left-out.jsonl", line("one", "") + line("two", "") + line("three", "") +
                                                          line("two", at) + line("one", at) + line("two", ""));
  const ToolResult again = tool(cohort.words("t.lmdb", {"--json"}));
  CAPTURE(again.err);
  CHECK(again.status == 3);
  REQUIRE(again.json()["bad"].size() == 4);
  CHECK(again.json()["bad"][0]["key"] == "three/whole");
  CHECK(again.json()["bad"][1]["key"] == "two/tile");
  CHECK(again.json()["bad"][2]["key"] == "one/tile");
  CHECK(again.json()["bad"][3]["key"] == "two/whole");
  CHECK(text_in(cohort.folder / "t.lmdb-report/left-out.jsonl").find("one/whole") == std::string::npos);
}

TEST_CASE("slides that can't be opened never end a run, and the others are those of a run without them") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  for (const std::string out : {"good.tar", "good.h5", "good.lmdb", "good.folder"})
    REQUIRE(tool(cohort.words(out)).status == 0);
  folder.write("slides/c.svs", "some text");
  const std::string whole = text_in(cohort.b.path);
  folder.write("slides/aa.svs", whole.substr(0, whole.size() / 2));
  folder.write("slides/empty.tif", "");
  for (const std::string kind : {"tar", "h5", "lmdb", "folder"}) {
    CAPTURE(kind);
    const ToolResult made = tool(cohort.words("t." + kind));
    CHECK(made.status == 3);
    for (const char* const slide : {"aa.svs: ", "c.svs: ", "empty.tif: "})
      CHECK(made.out.find(fmt::format("bad: {}/{}", folder / "slides", slide)) != std::string::npos);
    const auto before = files_in(folder.path().string());
    const ToolResult again = tool(cohort.words("t." + kind));
    CHECK(again.status == 3);
    CHECK(again.out.find("is finished already, 26 tiles of 5 slides: nothing to do") != std::string::npos);
    for (const auto& [name, content] : files_in(folder.path().string())) {
      CAPTURE(name);
      CHECK((name == "t.lmdb/lock.mdb" || before.at(name) == content));
    }
  }
  // The numbers of slides differ.
  CHECK(keys_in(folder / "t.lmdb") == keys_in(folder / "good.lmdb"));
}

TEST_CASE("a slide that can be opened only later stays left out, and comes when asked for") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  write_slide(folder / "slides/ab.tif", openslide_form({.width = 128, .height = 128}));
  const ToolResult whole = tool(cohort.words("whole.lmdb", {"--json"}));
  REQUIRE(whole.json()["bad"].empty());
  REQUIRE(whole.status == 0);
  ::setenv("PENSTOCK_OPENSLIDE", "/none", 1);
  for (const std::string kind : {"tar", "lmdb"}) CHECK(tool(cohort.words("t." + kind)).status == 3);
  ::unsetenv("PENSTOCK_OPENSLIDE");
  const std::string tar = text_in(folder / "t-000000.tar");
  for (const std::string kind : {"tar", "lmdb"}) {
    const ToolResult again = tool(cohort.words("t." + kind, {"--json"}));
    CAPTURE(kind, again.err);
    CHECK(again.status == 3);
    CHECK(again.json()["was_finished"] == true);
    CHECK(again.json()["bad"].size() == 1);
  }
  CHECK(text_in(folder / "t-000000.tar") == tar);
  const ToolResult retried = tool(cohort.words("t.lmdb", {"--retry", "--json"}));
  CAPTURE(retried.err);
  CHECK(retried.status == 0);
  CHECK(content(folder / "t.lmdb") == content(folder / "whole.lmdb"));
  // The other way round it is told by name.
  ::setenv("PENSTOCK_OPENSLIDE", "/none", 1);
  const ToolResult gone = tool(cohort.words("whole.lmdb"));
  ::unsetenv("PENSTOCK_OPENSLIDE");
  CAPTURE(gone.err);
  CHECK(gone.status == 1);
  CHECK(gone.err.find("ab.tif was read by OpenSlide ") != std::string::npos);
  CHECK(gone.err.find(", and is by none now") != std::string::npos);
}

TEST_CASE("a slide that could not be opened may be replaced by a good one, and is asked for again") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  REQUIRE(tool(cohort.words("whole.lmdb")).status == 0);
  const std::string whole = text_in(cohort.b.path);
  std::ofstream(cohort.b.path, std::ios::trunc) << whole.substr(0, whole.size() / 2);
  for (const std::string out : {"t.lmdb", "t.tar"}) REQUIRE(tool(cohort.words(out)).status == 3);
  std::ofstream(cohort.b.path, std::ios::trunc) << whole;
  const ToolResult refused = tool(cohort.words("t.lmdb"));
  CHECK(refused.status == 1);
  CHECK(refused.err.find("b.svs had") != std::string::npos);
  CHECK(tool(cohort.words("t.tar", {"--retry"})).status != 0);
  const ToolResult retried = tool(cohort.words("t.lmdb", {"--retry"}));
  CAPTURE(retried.err);
  CHECK(retried.status == 0);
  CHECK(content(folder / "t.lmdb") == content(folder / "whole.lmdb"));
  const ToolResult again = tool(cohort.words("t.lmdb", {"--json"}));
  CAPTURE(again.err);
  CHECK(again.status == 0);
  CHECK(again.json()["was_finished"] == true);
  // One that was read is another job.
  std::ofstream(cohort.a.path, std::ios::app) << "x";
  CHECK(tool(cohort.words("t.lmdb", {"--retry"})).err.find("a.svs had") != std::string::npos);
}

TEST_CASE("asking again that is refused, or stopped, leaves everything as it was, or is made up for") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  SecretChange damage(cohort.a.path);
  cohort.a.overwrite(cohort.a.offsets[9], Bytes(cohort.a.sizes[9], std::byte{0x33}));
  damage.keep_times();
  REQUIRE(tool(cohort.words("t.lmdb")).status == 3);
  REQUIRE(tool(cohort.words("t.tar")).status == 3);
  // A good slide can't be read just now: nothing is touched.
  SecretChange absence(cohort.b.path);
  std::ofstream(cohort.b.path, std::ios::in | std::ios::out | std::ios::binary) << "XXXX";
  absence.keep_times();
  const auto before = files_in(folder.path().string());
  const ToolResult refused = tool(cohort.words("t.lmdb", {"--retry"}));
  CAPTURE(refused.err);
  CHECK(refused.status == 1);
  CHECK(refused.err.find("b.svs could be read, and can't be now") != std::string::npos);
  CHECK(files_in(folder.path().string()) == before);
  absence.undo();
  CHECK(tool(cohort.words("t.tar", {"--retry"})).status == 2);
  // Stopped before its report.
  damage.undo();
  fs::create_directory(folder / "t.lmdb-report/slides.csv.new");
  CHECK(tool(cohort.words("t.lmdb", {"--retry"})).status == 1);
  fs::remove(folder / "t.lmdb-report/slides.csv.new");
  CHECK(tool(cohort.words("t.lmdb")).status == 0);
  CHECK(text_in(folder / "t.lmdb-report/slides.csv").find("left out") == std::string::npos);
  const auto run = Json::parse(text_in(folder / "t.lmdb-report/run.json"));
  CHECK(run["result"]["left_out"] == 0);
  CHECK(run["result"]["tiles"] == 26);
}

TEST_CASE("with --on-error fail the first bad tile ends the run, and a run without it goes on") {
  Cohort cohort;
  cohort.a.set_size(9, 0);
  const ToolResult failed = tool(cohort.words("t.lmdb", {"--on-error", "fail"}));
  CHECK(failed.status == 1);
  CHECK(one_line(failed.err));
  CHECK(failed.err.find("the tile at x 192, y 64 of level 0: it is empty") != std::string::npos);
  const ToolResult made = tool(cohort.words("t.lmdb", {"--json"}));
  CHECK(made.status == 3);
  CHECK(made.json()["skipped"] == 8);
  CHECK(made.json()["written"] == 17);
  const ToolResult again = tool(cohort.words("t.lmdb", {"--on-error", "fail"}));
  CHECK(again.status == 2);
  CHECK(again.err.find("earlier runs left out 1 tile or slide") != std::string::npos);
}

TEST_CASE("the report says what became of each slide") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  cohort.a.set_size(9, 0);
  folder.write("slides/<!--, \"x\".svs", "no slide");
  REQUIRE(tool(cohort.words("t.lmdb", {"--edges", "pad"})).status == 3);
  const std::string table = text_in(folder / "t.lmdb-report/slides.csv");
  CHECK(table.starts_with("slide,file,state,tiles,places,left_out,width,height,mpp,cause\n"));
  CHECK(table.find("\na," + cohort.a.path + ",some left out,29,30,1,330,270,,") != std::string::npos);
  CHECK(table.find("\nb," + cohort.b.path + ",done,12,12,0,200,140,,\n") != std::string::npos);
  CHECK(table.find("\n\"<!--, \"\"x\"\"\",") != std::string::npos);
  const auto slide = Json::parse(text_in(folder / "t.lmdb-report/slides/a.json"));
  CHECK(slide["state"] == "some left out");
  CHECK(slide["tiles_stored"] == 29);
  CHECK(slide["left_out"].size() == 1);
  CHECK(slide["settings"]["edges"] == "pad");
  CHECK(slide["settings"]["size"] == 64);
  CHECK(slide["stamp"]["bytes"] == fs::file_size(cohort.a.path));
  const auto run = Json::parse(text_in(folder / "t.lmdb-report/run.json"));
  CHECK(run["result"]["finished"] == true);
  CHECK(run["result"]["tiles"] == 41);
  CHECK(run["slides"].size() == 3);
  const std::string page = text_in(folder / "t.lmdb-report/index.html");
  const std::size_t begin = page.find("id=\"data\">") + 10, end = page.find("</script>", begin);
  const auto data = Json::parse(page.substr(begin, end - begin));
  REQUIRE(data["slides"].size() == 3);
  CHECK(data["slides"][0]["name"] == "<!--, \"x\"");
  CHECK(data["slides"][1]["bad"].size() == 1);
  CHECK(data["slides"][1]["picture"] == "pictures/a.png");
  CHECK(fs::exists(folder / "t.lmdb-report/pictures/a.png"));
  // Nothing of it comes from elsewhere.
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
  fs::remove_all(folder / "t.lmdb");
  REQUIRE(tool(cohort.words("t.lmdb", {"--no-thumbnails"})).status == 3);
  CHECK_FALSE(fs::exists(folder / "t.lmdb-report/pictures"));
}
