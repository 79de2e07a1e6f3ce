#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "cli/tool.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

// Waits until the store has grown beyond its first pages, and `extra` more; false when the tool ends before.
bool wait_for_commit(RunningTool& running, const std::string& store, std::chrono::microseconds extra) {
  struct stat facts {};
  while (::stat((store + "/data.mdb").c_str(), &facts) != 0 || facts.st_blocks * 512 < 100'000) {
    if (running.ended()) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  std::this_thread::sleep_for(extra);
  return !running.ended();
}

}  // namespace

TEST_CASE("pack writes class/file keys, the files' bytes and class numbers") {
  const TempFolder folder;
  write_images(folder, 3, 31);
  const ToolResult packed = tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--json"});
  REQUIRE(packed.status == 0);
  CHECK(packed.err.empty());
  CHECK(packed.json()["records"] == 31);
  CHECK(packed.json()["written"] == 31);
  CHECK(packed.json()["classes"] == std::vector<std::string>{"class_0", "class_1", "class_2"});
  const auto all = content(folder / "x.lmdb");
  REQUIRE(all.size() == 31);
  CHECK(all.at("class_1/0004.jpg") == jpeg(4) + std::string("\1\0\0\0\0\0\0\0", 8));
  CHECK(all.at("class_2/0029.jpg") == jpeg(29) + std::string("\2\0\0\0\0\0\0\0", 8));
}

TEST_CASE("pack of a finished store has nothing to do, and refuses other files") {
  const TempFolder folder;
  write_images(folder, 2, 10);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb"}).status == 0);
  const auto before = content(folder / "x.lmdb");
  const ToolResult again = tool({"pack", folder / "images", "--out", folder / "x.lmdb"});
  CHECK(again.status == 0);
  CHECK(again.out.find("nothing to do") != std::string::npos);
  CHECK(content(folder / "x.lmdb") == before);

  folder.write("images/class_0/9999.jpg", jpeg(99));
  const ToolResult other = tool({"pack", folder / "images", "--out", folder / "x.lmdb"});
  CHECK(other.status == 1);
  CHECK(one_line(other.err));
  CHECK(content(folder / "x.lmdb") == before);
}

TEST_CASE("pack --lsun writes bare values") {
  const TempFolder folder;
  write_images(folder, 2, 10);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--lsun"}).status == 0);
  const auto all = content(folder / "x.lmdb");
  REQUIRE(all.size() == 10);
  CHECK(all.at("class_1/0003.jpg") == jpeg(3));
  CHECK(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--lsun"}).out.find("nothing to do") !=
        std::string::npos);
}

TEST_CASE("pack --labels takes the files and labels of a CSV file") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  folder.write("labels.csv", "file,label\nclass_0/0002.jpg,7\nclass_1/0003.jpg,-1\n");
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--labels", folder / "labels.csv"}).status == 0);
  const auto all = content(folder / "x.lmdb");
  REQUIRE(all.size() == 2);
  CHECK(all.at("class_0/0002.jpg") == jpeg(2) + std::string("\7\0\0\0\0\0\0\0", 8));
  CHECK(all.at("class_1/0003.jpg") == jpeg(3) + std::string(8, '\xff'));
}

TEST_CASE("a killed pack is continued, and ends with the same keys and values") {
  const TempFolder folder;
  write_images(folder, 4, 3000);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "whole.lmdb"}).status == 0);
  const auto whole = content(folder / "whole.lmdb");
  REQUIRE(whole.size() == 3000);

  const std::string store = folder / "killed.lmdb";
  bool continued = false;
  for (int round = 0; round < 30 && !continued; ++round) {
    std::filesystem::remove_all(store);
    int kills = 0;
    for (; kills < 2; ++kills) {
      RunningTool running({"pack", folder / "images", "--out", store});
      if (!wait_for_commit(running, store, std::chrono::microseconds(300 * (round % 10)))) break;
      running.send(SIGKILL);
      running.wait();
    }
    const ToolResult rest = tool({"pack", folder / "images", "--out", store, "--json"});
    REQUIRE(rest.status == 0);
    CHECK(content(store) == whole);
    continued = kills == 2 && rest.json()["skipped"] > 0 && rest.json()["written"] > 0;
  }
  CHECK(continued);  // at least once the kills hit the middle
}

TEST_CASE("pack stopped by Ctrl-C keeps what it has, says how to go on, and exits with 130") {
  const TempFolder folder;
  write_images(folder, 4, 3000);
  const std::string store = folder / "x.lmdb";
  bool stopped = false;
  for (int round = 0; round < 30 && !stopped; ++round) {
    std::filesystem::remove_all(store);
    RunningTool running({"pack", folder / "images", "--out", store, "--quiet"});
    if (!wait_for_commit(running, store, std::chrono::microseconds(0))) continue;
    running.send(SIGINT);
    const ToolResult result = running.wait();
    stopped = result.status == 130;
    if (!stopped) {
      CHECK(result.status == 0);  // it was done already
      continue;
    }
    CHECK(one_line(result.err));
    CHECK(result.err.find("the same command continues") != std::string::npos);
    CHECK(tool({"verify", store}).status == 1);  // an unfinished store is not taken for a whole one
    const ToolResult rest = tool({"pack", folder / "images", "--out", store, "--json"});
    CHECK(rest.status == 0);
    CHECK(rest.json()["skipped"] > 0);
    CHECK(content(store).size() == 3000);
  }
  CHECK(stopped);
}

TEST_CASE("pack names a file that can't be read, and verify lists it") {
  // Says it holds a page and gives a few bytes, for root as for anyone.
  const std::string unreadable = "/sys/kernel/mm/transparent_hugepage/enabled";
  if (!std::filesystem::exists(unreadable)) PENSTOCK_SKIP("no sysfs here");
  const TempFolder folder;
  write_images(folder, 2, 6);
  std::filesystem::remove(folder / "images/class_1/0003.jpg");
  std::filesystem::create_symlink(unreadable, folder / "images/class_1/0003.jpg");
  const ToolResult packed = tool({"pack", folder / "images", "--out", folder / "x.lmdb"});
  CHECK(packed.status == 1);
  CHECK(one_line(packed.err));
  CHECK(packed.err.find("class_1/0003.jpg") != std::string::npos);
  const ToolResult verified = tool({"verify", folder / "images", "--json"});
  CHECK(verified.status == 3);
  REQUIRE(verified.json()["bad"].size() == 1);
  CHECK(verified.json()["bad"][0]["code"] == "io");
}
