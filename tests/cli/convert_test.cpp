// SPDX-License-Identifier: Apache-2.0
// penstock convert: a store into another.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "cli/tool.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/text_in.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;

namespace {

// A folder of images as an LMDB store.
void pack(const TempFolder& folder, unsigned classes, unsigned count) {
  write_images(folder, classes, count);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
}

std::map<std::string, std::string> files_in(const std::string& folder) {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    out[entry.path().filename()] = text_in(entry.path());
  return out;
}

}  // namespace

TEST_CASE("convert makes tar shards of an LMDB, and the LMDB of these") {
  const TempFolder folder;
  pack(folder, 3, 31);
  const ToolResult there =
      tool({"convert", folder / "x.lmdb", "--out", folder / "out/t.tar", "--shard-samples", "10", "--json"});
  REQUIRE(there.status == 0);
  CHECK(there.json()["records"] == 31);
  CHECK(there.json()["written"] == 31);
  CHECK(there.json()["finished"] == true);
  CHECK(files_in(folder / "out").size() == 6);  // four shards, the classes' names, and what made them
  const auto inspected = tool({"inspect", folder / "out/t-{000000..000003}.tar", "--json"}).json();
  CHECK(inspected["records"] == 31);
  CHECK(inspected["schema"] == "{image: u8[?], label: i64[]}");

  REQUIRE(tool({"convert", folder / "out", "--out", folder / "back.lmdb", "-q"}).status == 0);
  const auto got = content(folder / "back.lmdb");
  CHECK(got.size() == 31);
  CHECK(got == content(folder / "x.lmdb"));

  const ToolResult again = tool({"convert", folder / "x.lmdb", "--out", folder / "out/t.tar", "--shard-samples", "10"});
  CHECK(again.status == 0);
  CHECK(again.out.find("nothing to do") != std::string::npos);
}

TEST_CASE("convert of an LMDB ends well where somebody writes to that after its last record") {
  const TempFolder folder;
  const RawLmdb raw{folder / "x.lmdb"};
  raw.write(numbered(5));
  std::filesystem::create_directory(folder / "out");
  const std::string shard = folder / "out/t-000000.tar";
  ::setenv("PENSTOCK_TEST_WAITING_RENAME", "t-000000.tar", 1);
  ::setenv("LD_PRELOAD", path_of("failing_read").c_str(), 1);
  RunningTool converting({"convert", raw.path, "--values", "raw", "--out", folder / "out/t.tar"});
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("PENSTOCK_TEST_WAITING_RENAME");
  while (!std::filesystem::exists(shard + "-waits") && !converting.ended())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const bool waited = std::filesystem::exists(shard + "-waits");
  raw.write({{"00000009", "another"}});
  folder.write("out/t-000000.tar-go", "");
  const ToolResult converted = converting.wait();
  CAPTURE(converted.err);
  REQUIRE(waited);
  CHECK(converted.status == 0);
  CHECK(tool({"inspect", shard, "--json"}).json()["records"] == 5);
}

TEST_CASE("convert --seekable rewrites the JPEGs of a store") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  folder.write("images/class_0/large.jpg", jpeg(77, 300, 400));
  folder.write("images/class_1/damaged.jpg", jpeg(3).substr(0, 600));
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "expected.lmdb", "--seekable"}).status == 0);
  const ToolResult converted =
      tool({"convert", folder / "x.lmdb", "--out", folder / "seekable.lmdb", "--seekable", "--json"});
  REQUIRE(converted.status == 0);
  CHECK(converted.json()["seekable"]["rewritten"] == 7);
  CHECK(converted.json()["seekable"]["refused"] == 1);
  CHECK(converted.err.find("class_1/damaged") != std::string::npos);
  CHECK(content(folder / "seekable.lmdb") == content(folder / "expected.lmdb"));
}

TEST_CASE("convert ends at a record that can't be read, or leaves it out") {
  const TempFolder folder;
  pack(folder, 1, 40);
  std::string data = text_in(folder / "x.lmdb/data.mdb");
  const std::size_t at = data.find(jpeg(20).substr(jpeg(20).size() - 80, 60));
  REQUIRE(at != std::string::npos);
  data[at + 10] = static_cast<char>(data[at + 10] ^ 1);
  folder.write("x.lmdb/data.mdb", data);
  const ToolResult failed = tool({"convert", folder / "x.lmdb", "--out", folder / "a.tar", "--no-sync"});
  CHECK(failed.status == 1);
  CHECK(one_line(failed.err));
  CHECK(failed.err.find("class_0/0020") != std::string::npos);
  CHECK(tool({"inspect", folder / "a-*.tar"}).status == 1);  // not a finished store
  const ToolResult dropped =
      tool({"convert", folder / "x.lmdb", "--out", folder / "b.lmdb", "--on-error", "drop", "--json"});
  REQUIRE(dropped.status == 0);
  CHECK(dropped.json()["written"] == 39);
  CHECK(dropped.json()["dropped"] == 1);
  auto expected = content(folder / "b.lmdb");
  CHECK(expected.size() == 39);
  CHECK_FALSE(expected.contains("class_0/0020"));
}

TEST_CASE("a conversion that is killed is continued, and ends with the same bytes") {
  const TempFolder folder;
  pack(folder, 2, 3000);
  const std::vector<std::string> command{
      "convert", folder / "x.lmdb", "--out", folder / "whole/t.tar", "--shard-samples", "400", "-q"};
  const auto begun = std::chrono::steady_clock::now();
  REQUIRE(tool(command).status == 0);
  const auto whole = std::chrono::steady_clock::now() - begun;
  const auto expected = files_in(folder / "whole");
  bool continued = false;
  for (int attempt = 0; attempt < 20 && !continued; ++attempt) {
    const std::string out = "killed" + std::to_string(attempt);
    std::vector<std::string> arguments = command;
    arguments[3] = folder / (out + "/t.tar");
    RunningTool running(arguments);
    while (!running.ended() && !std::filesystem::exists(folder / (out + "/t.tar-unfinished.json"))) {
    }
    std::this_thread::sleep_for(whole * attempt / 20);
    running.send(SIGKILL);
    const bool killed = running.wait().status == 128 + SIGKILL;
    arguments.back() = "--json";
    const ToolResult rest = tool(arguments);
    REQUIRE(rest.status == 0);
    CHECK(files_in(folder / out) == expected);
    continued = killed && rest.json()["skipped"] > 0 && rest.json()["written"] > 0;
  }
  CHECK(continued);
}

TEST_CASE("convert numbers records whose keys would be the same in shards") {
  const TempFolder folder;
  folder.write("images/c/a.b.jpg", jpeg(1));
  folder.write("images/c/a_b.jpg", jpeg(2));
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "-q"}).status == 0);
  const ToolResult same = tool({"convert", folder / "x.lmdb", "--out", folder / "a.tar", "-q"});
  CHECK(same.status == 1);
  CHECK(one_line(same.err));
  REQUIRE(tool({"convert", folder / "x.lmdb", "--out", folder / "b.tar", "--keys", "position", "-q"}).status == 0);
  CHECK(tool({"inspect", folder / "b-000000.tar", "--json"}).json()["records"] == 2);
}

TEST_CASE("convert refuses what it can't do") {
  const TempFolder folder;
  pack(folder, 1, 4);
  folder.write("table.csv", "a,b\n1,2\n3,4\n");
  const auto refused = [&](const std::vector<std::string>& arguments, int status, const std::string& words) {
    const ToolResult result = tool(arguments);
    CAPTURE(result.err);
    CHECK(result.status == status);
    CHECK(one_line(result.err));
    CHECK(result.err.find(words) != std::string::npos);
  };
  refused({"convert", folder / "table.csv", "--out", folder / "y.lmdb", "--seekable"}, 2, "the field image");
  refused({"convert", folder / "x.lmdb", "--out", folder / "x.lmdb/y"}, 2, "lies inside");
  // Named from within, and before it is there.
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder / "x.lmdb");
  refused({"convert", ".", "--out", "new.lmdb"}, 2, "lies inside");
  CHECK_FALSE(std::filesystem::exists("new.lmdb"));
  std::filesystem::current_path(before);
  refused({"convert", folder / "x.lmdb", "--out", folder / "y.tar", "--shard-bytes", "much"}, 2, "much");
  refused({"convert", folder / "nothing", "--out", folder / "y.tar"}, 1, "no store or folder");
  refused({"convert", folder / "x.lmdb"}, 2, "--out");
  CHECK(tool({"convert", folder / "table.csv", "--out", folder / "t.lmdb"}).status == 0);
  CHECK(tool({"inspect", folder / "t.lmdb", "--json"}).json()["records"] == 2);
}

}  // namespace PENSTOCK_TEST_FILE
