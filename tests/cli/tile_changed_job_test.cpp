// SPDX-License-Identifier: Apache-2.0
// penstock tile where a store is there already: what has changed since is refused by name.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/tile_cohort.hpp"
#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/source_checks.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace fs = std::filesystem;

TEST_CASE("a job that was changed is refused, and what has changed is named") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  folder.write("t.csv", "slide,label\na,1\nb,2\n");
  const std::vector<std::string> more{"--labels", folder / "t.csv"};
  for (const std::string out : {"t.lmdb", "t.tar"}) {
    CAPTURE(out);
    REQUIRE(tool(cohort.words(out, more)).status == 0);
    const auto refused = [&](std::vector<std::string> words, const std::string& why) {
      const ToolResult result = tool(cohort.words(out, std::move(words)));
      CAPTURE(result.err);
      CHECK(result.status == 1);
      CHECK(one_line(result.err));
      CHECK(result.err.find(why) != std::string::npos);
    };
    std::vector<std::string> other = more;
    other.insert(other.end(), {"--quality", "80"});
    refused(other, "--quality was 90, and is 80 now");
    refused({}, "--labels was given");
    {
      SecretChange table(folder / "t.csv");
      folder.write("t.csv", "slide,label\na,1\nb,3\n");
      refused(more, "what --labels names says something else now");
      table.undo();
    }
    write_slide(folder / "slides/c.svs", {.width = 64, .height = 64});
    folder.write("more.csv", "slide,label\na,1\nb,2\nc,3\n");
    std::vector<std::string> third = more;
    third.push_back("--leave-out-unlisted");
    CHECK(tool(cohort.words(out, third)).status == 1);
    fs::remove(folder / "slides/c.svs");
    {
      SecretChange slide(cohort.b.path);
      std::ofstream(cohort.b.path, std::ios::app) << "x";
      refused(more, "b.svs had ");
      slide.undo();
      std::ofstream(cohort.b.path, std::ios::in) << text_in(cohort.b.path);
      refused(more, "b.svs was written to meanwhile");
      slide.undo();
    }
    fs::rename(folder / "slides/b.svs", folder / "b.svs");
    refused(more, "b.svs is missing");
    fs::rename(folder / "b.svs", folder / "slides/b.svs");
    CHECK(tool(cohort.words(out, more)).status == 0);
    std::vector<std::string> same = more;
    same.insert(same.end(), {"--threads", "1", "--tolerance", "0.020"});
    CHECK(tool(cohort.words(out, same)).status == 0);
  }
}

TEST_CASE("a list of places or an index that says something else is another job, of ranks too") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  const auto listed = [&](const std::string& to, const std::string& stride) {
    REQUIRE(tool({"tile", folder / "slides", "--size", "64", "--stride", stride, "--coords", folder / to}).status == 0);
  };
  listed("lists", "64");
  listed("others", "32");
  const std::vector<std::string> lists{"--from-coords", folder / "lists"};
  REQUIRE(tool(cohort.words("t.lmdb", lists)).status == 0);
  CHECK(tool(cohort.words("t.lmdb", lists)).status == 0);
  for (const std::string rank : {"0", "1"}) {
    fs::remove_all(folder / "lists");
    fs::copy(folder / "others", folder / "lists", fs::copy_options::recursive);
    if (rank == "0")
      CHECK(tool(cohort.words("t.lmdb", lists)).err.find("--from-coords names says") != std::string::npos);
    if (rank == "0") listed("lists", "64");
    std::vector<std::string> words = lists;
    words.insert(words.end(), {"--rank", rank, "--world", "2"});
    REQUIRE(tool(cohort.words("r.lmdb", words)).status == 0);
  }
  const ToolResult merged =
      tool({"merge", folder / "r-r0-of-2.lmdb", folder / "r-r1-of-2.lmdb", "--out", folder / "x.json"});
  CHECK(merged.status == 1);
  CHECK(merged.err.find("what --from-coords names says something else now") != std::string::npos);

  const auto drawn = [&](int right) {
    for (const char* const slide : {"a", "b"})
      folder.write(std::string("regions/") + slide + ".geojson",
                   R"([{"type":"Feature","properties":{"classification":{"name":"tumor"}},"geometry":)"
                   R"({"type":"Polygon","coordinates":[[[0,0],[)" +
                       std::to_string(right) + ",0],[" + std::to_string(right) + R"(,140],[0,140],[0,0]]]}}])");
  };
  drawn(64);
  std::vector<std::string> cut{"index",     folder / "slides",  "--size",    "64",
                               "--regions", folder / "regions", "--include", "tumor",
                               "--out",     folder / "x.tiles"};
  REQUIRE(tool(cut).status == 0);
  const std::vector<std::string> indexed{"--regions", folder / "regions", "--include",
                                         "tumor",     "--index",          folder / "x.tiles"};
  REQUIRE(tool(cohort.words("i.lmdb", indexed)).status == 0);
  drawn(192);
  const ToolResult stale = tool(cohort.words("j.lmdb", indexed));
  CHECK(stale.status == 1);
  CHECK(stale.err.find("slide a has other regions now") != std::string::npos);
  REQUIRE(tool(cut).status == 0);
  CHECK(tool(cohort.words("j.lmdb", indexed)).status == 0);
}

TEST_CASE("settings are compared as what they mean") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  const std::vector<std::string> columns{"--labels", folder / "t.csv", "--columns"};
  folder.write("t.csv", "slide,1,01\na,5,6\nb,5,6\n");
  const auto with = [&](const std::string& column) {
    std::vector<std::string> words = columns;
    words.push_back(column);
    return tool(cohort.words("c.h5", words));
  };
  REQUIRE(with("1").status == 0);
  CHECK(with("01").err.find("--columns was 1, and is 01 now") != std::string::npos);
  REQUIRE(tool(cohort.words("t.lmdb", {"--encode=false"})).status == 0);
  CHECK(tool(cohort.words("t.lmdb")).status == 0);
  CHECK(tool(cohort.words("t.lmdb", {"--encode"})).err.find("--encode was not given, and is given now") !=
        std::string::npos);
  CHECK(tool(cohort.words("t.lmdb/")).status == 0);
  CHECK(tool(cohort.words("t.lmdb", {"--tolerance", "0.0200"})).status == 0);
}

TEST_CASE("one job may be said in several ways") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  REQUIRE(tool(cohort.words("t.tar")).status == 0);
  CHECK(tool(cohort.words("t.tar", {"--level", "0"})).status == 0);
  CHECK(tool(cohort.words("t.tar", {"--shard-bytes", "1073741824"})).status == 0);
  CHECK(tool(cohort.words("t.tar", {"--shard-bytes", "2GiB"})).status == 1);
  CHECK(tool(cohort.words("t.tar", {"--level", "1"})).status == 1);
  fs::create_directory(folder / "real");
  fs::create_directory_symlink(folder / "real", folder / "link");
  REQUIRE(tool(cohort.words("link/t.tar", {"--report", folder / "r"})).status == 0);
  CHECK(tool(cohort.words("real/t.tar", {"--report", folder / "r"})).status == 0);
}

TEST_CASE("a store whose report is gone is refused, for nothing tells what it was made from") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  cohort.a.set_size(9, 0);
  for (const std::string out : {"t.tar", "t.h5", "t.lmdb", "t.folder"}) {
    CAPTURE(out);
    REQUIRE(tool(cohort.words(out)).status == 3);
    fs::rename(folder / (out + "-report"), folder / "away");
    const ToolResult refused = tool(cohort.words(out, {"--quality", "80"}));
    CAPTURE(refused.err);
    CHECK(refused.status == 1);
    CHECK(one_line(refused.err));
    CHECK(refused.err.find("says nothing of what it was made from") != std::string::npos);
    CHECK(tool(cohort.words(out)).status == 1);
    fs::remove_all(folder / (out + "-report"));
    fs::rename(folder / "away", folder / (out + "-report"));
    CHECK(tool(cohort.words(out)).status == 3);
  }
}

TEST_CASE("a store that is gone is begun anew, and the folder of another one is refused") {
  Cohort cohort;
  const TempFolder& folder = cohort.folder;
  cohort.a.set_size(9, 0);
  REQUIRE(tool(cohort.words("t.lmdb")).status == 3);
  const ToolResult other = tool(cohort.words("t.tar", {"--report", folder / "t.lmdb-report"}));
  CHECK(other.status == 1);
  CHECK(other.err.find("the folder has the report of ../t.lmdb") != std::string::npos);
  CHECK(tool(cohort.words("t.tar", {"--report", folder / "r"})).status == 3);
  fs::remove_all(folder / "t.lmdb");
  cohort.a.set_size(9, cohort.a.sizes[9]);
  CHECK(tool(cohort.words("t.lmdb", {"--quality", "70"})).status == 0);
  CHECK(keys_in(folder / "t.lmdb").size() == 26);
}

TEST_CASE("tiles that two versions of OpenSlide read are not mixed") {
  const TempFolder folder;
  const SlideForm form = openslide_form({.width = 300, .height = 200});
  write_slide(folder / "a.tif", form);
  ::setenv("PENSTOCK_OPENSLIDE", path_of("counting_openslide").c_str(), 1);
  const auto tile = [&](const char* version) {
    ::setenv("COUNTING_OPENSLIDE_VERSION", version, 1);
    return tool({"tile", folder / "a.tif", "--size", "64", "--out", folder / "t.tar", "--json"});
  };
  const ToolResult first = tile("4.0.0");
  REQUIRE(first.status == 0);
  const ToolResult other = tile("4.0.1");
  CHECK(other.status == 1);
  CHECK(one_line(other.err));
  CHECK(other.err.find("a.tif was read by OpenSlide 4.0.0, and is by 4.0.1 now") != std::string::npos);
  CHECK(tile("4.0.0").status == 0);
  // Nor those of two processes.
  write_slide(folder / "b.tif", form);
  for (const std::string rank : {"0", "1"}) {
    ::setenv("COUNTING_OPENSLIDE_VERSION", rank == "0" ? "4.0.0" : "4.0.1", 1);
    REQUIRE(tool({"tile", folder / "a.tif", folder / "b.tif", "--size", "64", "--out", folder / "r.lmdb", "--rank",
                  rank, "--world", "2"})
                .status == 0);
  }
  const ToolResult merged =
      tool({"merge", folder / "r-r0-of-2.lmdb", folder / "r-r1-of-2.lmdb", "--out", folder / "all.json"});
  CHECK(merged.status == 1);
  CHECK(merged.err.find("its slides were read by OpenSlide 4.0.1, and those of ") != std::string::npos);
  // A slide that the first one could not read may be read by another: it stays left out.
  folder.write("c.tif", "no slide");
  const auto with_bad = [&](const char* version) {
    ::setenv("COUNTING_OPENSLIDE_VERSION", version, 1);
    return tool({"tile", folder / "a.tif", folder / "c.tif", "--size", "64", "--out", folder / "bad.lmdb"});
  };
  CHECK(with_bad("4.0.0").status == 3);
  CHECK(with_bad("4.0.0").status == 3);
  write_slide(folder / "a.tif", {.width = 300, .height = 200});  // OpenSlide is asked for the bad one alone
  std::filesystem::remove_all(folder / "bad.lmdb");
  std::filesystem::remove_all(folder / "bad.lmdb-report");
  CHECK(with_bad("4.0.0").status == 3);
  CHECK(with_bad("4.0.1").status == 3);
  ::unsetenv("COUNTING_OPENSLIDE_VERSION");
  ::unsetenv("PENSTOCK_OPENSLIDE");
}
