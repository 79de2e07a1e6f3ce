// SPDX-License-Identifier: Apache-2.0
// penstock tile where reads fail once, and not again.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

ToolResult with_failing_read(const std::vector<std::string>& words, int number, const std::string& name) {
  ::setenv("PENSTOCK_TEST_FAILING_READ", fmt::format("{} {}", number, name).c_str(), 1);
  ::setenv("LD_PRELOAD", path_of("failing_read").c_str(), 1);
  ToolResult result = tool(words);
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("PENSTOCK_TEST_FAILING_READ");
  return result;
}

}  // namespace

TEST_CASE("a read that fails once leaves out what it was for, and every store goes on without it") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 640, .height = 512});
  write_slide(folder / "b.svs", {.width = 320, .height = 128});
  const auto words = [&](const std::string& out) {
    return std::vector<std::string>{"tile", folder / "a.svs",  folder / "b.svs", "--out",     folder / out, "--size",
                                    "64",   "--no-thumbnails", "--json",         "--threads", "1"};
  };
  std::size_t slides = 0, tiles = 0, none = 0;
  for (const std::string kind : {"lmdb", "tar", "h5"})
    // The first reads open the slide.
    for (int number = 0; number < 45; number += 1 + number / 4) {
      CAPTURE(kind, number);
      const std::string out = fmt::format("{}.{}", number, kind);
      const ToolResult failed = with_failing_read(words(out), number, "a.svs");
      CAPTURE(failed.err);
      REQUIRE((failed.status == 0 || failed.status == 3));
      const auto bad = failed.json()["bad"];
      if (bad.empty()) {
        ++none;
        continue;
      }
      REQUIRE(bad.size() == 1);
      CHECK(bad[0]["code"] == "io");
      CHECK(bad[0]["file"] == folder / "a.svs");
      ++(bad[0]["whole_slide"] == true ? slides : tiles);
      CHECK(failed.json()["written"] == (bad[0]["whole_slide"] == true ? 10 : 89));
      const ToolResult again = tool(words(out));
      CAPTURE(again.err);
      CHECK(again.status == 3);
      CHECK(again.json()["was_finished"] == true);
      CHECK(again.json()["bad"] == bad);
    }
  CHECK(slides >= 9);
  CHECK(tiles >= 9);
  CHECK(none <= 24);
}

TEST_CASE("a job that was stopped goes on without what a read that failed once was for") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 3200, .height = 3200});
  for (const std::string kind : {"tar", "h5", "lmdb"}) {
    CAPTURE(kind);
    const std::string out = folder / ("t." + kind);
    const std::vector<std::string> words{"tile", folder / "a.svs",  "--out",  out,         "--size",
                                         "64",   "--no-thumbnails", "--json", "--threads", "1"};
    const ToolResult whole = with_failing_read(words, 100, "a.svs");
    REQUIRE(whole.status == 3);
    const std::string store = kind == "tar" ? folder / "t-000000.tar" : out;
    const std::string bytes = kind == "lmdb" ? "" : text_in(store);
    const auto content_before = kind == "lmdb" ? content(store) : std::map<std::string, std::string>();
    std::filesystem::remove_all(store);
    std::filesystem::remove_all(out + "-report");
    // Stopped once something is committed, after the read that failed.
    ::setenv("PENSTOCK_TEST_FAILING_READ", "100 a.svs", 1);
    ::setenv("LD_PRELOAD", path_of("failing_read").c_str(), 1);
    {
      RunningTool running(words);
      const std::string list = out + "-report/left-out.jsonl";
      while (!running.ended() && (!std::filesystem::exists(list) || std::filesystem::file_size(list) == 0)) continue;
      running.send(SIGKILL);
      running.wait();
    }
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("PENSTOCK_TEST_FAILING_READ");
    const ToolResult again = tool(words);
    CAPTURE(again.err);
    CHECK(again.status == 3);
    CHECK(again.json()["bad"].size() == 1);
    if (kind == "lmdb")
      CHECK(content(store) == content_before);
    else
      CHECK(text_in(store) == bytes);
  }
}

TEST_CASE("what is left out is known before the store has what comes after it") {
  const TempFolder folder;
  write_slide(folder / "a.svs", {.width = 640, .height = 512});
  for (const std::string kind : {"tar", "h5", "lmdb"}) {
    CAPTURE(kind);
    const auto words = [&](const std::string& out) {
      return std::vector<std::string>{
          "tile",   folder / "a.svs", "--out", folder / (out + "." + kind), "--size", "64", "--no-thumbnails",
          "--json", "--threads",      "1"};
    };
    REQUIRE(tool(words("whole")).status == 0);
    // A read fails once, and the run dies before it has noted that: nothing that it stored may count on the list.
    ::setenv("PENSTOCK_TEST_KILLED_WRITE", "left-out.jsonl", 1);
    const ToolResult killed = with_failing_read(words("t"), 30, "a.svs");
    ::unsetenv("PENSTOCK_TEST_KILLED_WRITE");
    REQUIRE(killed.status == 128 + SIGKILL);
    const ToolResult again = tool(words("t"));
    CAPTURE(again.err);
    CHECK(again.status == 0);
    if (kind == "lmdb")
      CHECK(content(folder / "t.lmdb") == content(folder / "whole.lmdb"));
    else
      CHECK(text_in(folder / ("t" + std::string(kind == "tar" ? "-000000.tar" : ".h5"))) ==
            text_in(folder / ("whole" + std::string(kind == "tar" ? "-000000.tar" : ".h5"))));
  }
}
