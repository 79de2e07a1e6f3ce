// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <span>
#include <thread>

#include <penstock/transforms/seekable_jpeg.hpp>

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
  CHECK(all.at("class_1/0004") == jpeg(4) + std::string("\1\0\0\0\0\0\0\0", 8));
  CHECK(all.at("class_2/0029") == jpeg(29) + std::string("\2\0\0\0\0\0\0\0", 8));
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
  CHECK(all.at("class_1/0003") == jpeg(3));
  CHECK(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--lsun"}).out.find("nothing to do") !=
        std::string::npos);
}

TEST_CASE("pack --seekable rewrites JPEGs, and leaves what it can't rewrite as it is") {
  const TempFolder folder;
  write_images(folder, 2, 10);
  folder.write("images/class_0/large.jpg", jpeg(77, 300, 400));
  folder.write("images/class_0/other.png", "not a JPEG");
  folder.write("images/class_1/damaged.jpg", jpeg(3).substr(0, 600));
  const ToolResult packed = tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--seekable", "--json"});
  REQUIRE(packed.status == 0);
  CHECK(packed.err.find("1 file begins like no image (" + (folder / "images/class_0/other.png") + ")") !=
        std::string::npos);
  CHECK(packed.err.find("class_1/damaged.jpg: the JPEG ends before its image does") != std::string::npos);
  const auto counts = packed.json()["seekable"];
  CHECK(counts["rewritten"] == 11);
  CHECK(counts["not_jpeg"] == 1);
  CHECK(counts["refused"] == 1);
  const auto all = content(folder / "x.lmdb");
  REQUIRE(all.size() == 13);
  const std::string zero(8, '\0'), one("\1\0\0\0\0\0\0\0", 8);
  CHECK(all.at("class_0/other") == "not a JPEG" + zero);
  CHECK(all.at("class_1/damaged") == jpeg(3).substr(0, 600) + one);
  std::size_t before = 0, after = 0;
  const auto check_rewritten = [&](const std::string& key, const std::string& original) {
    const auto expected = penstock::seekable_jpeg(std::as_bytes(std::span(original)));
    const std::string text(reinterpret_cast<const char*>(expected.data()), expected.size());
    CHECK(all.at(key).substr(0, all.at(key).size() - 8) == text);
    before += original.size();
    after += text.size();
  };
  for (unsigned i = 0; i < 10; ++i)
    check_rewritten("class_" + std::to_string(i % 2) + "/000" + std::to_string(i), jpeg(i));
  check_rewritten("class_0/large", jpeg(77, 300, 400));
  CHECK(counts["bytes_before"] == before);
  CHECK(counts["bytes_after"] == after);

  const ToolResult text = tool({"pack", folder / "images", "--out", folder / "y.lmdb", "--seekable"});
  CHECK(text.out.find("seekable: 11 JPEGs rewritten, ") != std::string::npos);
  CHECK(text.out.find("; 1 file that is no JPEG, as it is; 1 JPEG that can't be rewritten, as it is\n") !=
        std::string::npos);
  // The other kind of store is not to be continued, or taken for this one.
  CHECK(tool({"pack", folder / "images", "--out", folder / "y.lmdb"}).status == 1);
  CHECK(content(folder / "y.lmdb") == all);
}

TEST_CASE("pack --labels takes the files and labels of a CSV file") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  folder.write("labels.csv", "file,label\nclass_0/0002.jpg,7\nclass_1/0003.jpg,-1\n");
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--labels", folder / "labels.csv"}).status == 0);
  const auto all = content(folder / "x.lmdb");
  REQUIRE(all.size() == 2);
  CHECK(all.at("class_0/0002") == jpeg(2) + std::string("\7\0\0\0\0\0\0\0", 8));
  CHECK(all.at("class_1/0003") == jpeg(3) + std::string(8, '\xff'));
}

TEST_CASE("pack counts bytes that are written") {
  const TempFolder folder;
  write_images(folder, 2, 10);
  std::size_t bytes = 0;
  for (unsigned i = 0; i < 10; ++i) bytes += jpeg(i).size();
  const auto written = [&](const std::string& store, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"pack", folder / "images", "--out", folder / store, "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool(arguments).json()["bytes"];
  };
  CHECK(written("x.lmdb", {"--lsun"}) == bytes);
  CHECK(written("y.lmdb", {}) == bytes + 10 * 8);
}

TEST_CASE("pack says what it leaves out") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  folder.write("labels.csv", "class_0/0002.jpg,7\n");
  std::filesystem::create_symlink(folder / "nothing", folder / "images/class_0/dangling.jpg");
  std::filesystem::create_symlink(folder / "nothing", folder / "images/class_9");
  for (int round = 0; round < 2; ++round) {  // a finished one too
    const ToolResult text = tool({"pack", folder / "images", "--out", folder / "x.lmdb"});
    CHECK(text.status == 0);
    CHECK(text.out.find("left out: 2 links that lead nowhere\n") != std::string::npos);
    const ToolResult named =
        tool({"pack", folder / "images", "--out", folder / "y.lmdb", "--labels", folder / "labels.csv"});
    CHECK(named.status == 0);
    CHECK(named.out.find("left out: 5 files that ") != std::string::npos);
  }
  CHECK(tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--json"}).json()["broken_links"] == 2);
  const ToolResult json =
      tool({"pack", folder / "images", "--out", folder / "y.lmdb", "--labels", folder / "labels.csv", "--json"});
  CHECK(json.json()["not_in_labels"] == 5);
}

TEST_CASE("pack warns of labels that are numbers and names, and refuses what is neither") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  const auto pack_with = [&](const std::string& third) {
    folder.write("labels.csv", "file,label\nclass_0/0000.jpg,1\nclass_1/0001.jpg," + third + "\n");
    std::filesystem::remove_all(folder / "x.lmdb");
    return tool({"pack", folder / "images", "--out", folder / "x.lmdb", "--labels", folder / "labels.csv", "--quiet"});
  };
  CHECK(pack_with("2").err.empty());
  for (const std::string other : {"cat", "1.5"}) {
    const ToolResult mixed = pack_with(other);
    CHECK(mixed.status == 0);
    CHECK(one_line(mixed.err));
    CHECK(mixed.err.find("labels.csv: line 3") != std::string::npos);
  }
  for (const std::string other : {"", "99999999999999999999"}) {
    const ToolResult refused = pack_with(other);
    CHECK(refused.status == 1);
    CHECK(one_line(refused.err));
    CHECK(refused.err.find("line 3") != std::string::npos);
    CHECK(refused.err.find("labels.csv") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / "x.lmdb"));
  }
}

TEST_CASE("pack refuses a path that is too long for a key before it begins a store") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  std::string longest = "images/zebra";
  for (int i = 0; i < 5; ++i) longest += "/" + std::string(100, 'z');
  folder.write(longest + "/x.jpg", jpeg(1));
  const ToolResult result = tool({"pack", folder / "images", "--out", folder / "x.lmdb"});
  CHECK(result.status == 1);
  CHECK(one_line(result.err));
  CHECK(result.err.find("511") != std::string::npos);
  CHECK(result.err.find("zzz/x.jpg") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "x.lmdb"));
}

TEST_CASE("a killed pack is continued, and ends with the same keys and values") {
  const TempFolder folder;
  write_images(folder, 4, 3000);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "whole.lmdb"}).status == 0);
  const auto whole = content(folder / "whole.lmdb");
  REQUIRE(whole.size() == 3000);

  const std::string store = folder / "killed.lmdb";
  bool continued = false;
  // Up to 150 ms later: data is seen to be written before the disk has confirmed it and the commit is one.
  for (int round = 0; round < 30 && !continued; ++round) {
    std::filesystem::remove_all(store);
    int kills = 0;
    for (; kills < 2; ++kills) {
      RunningTool running({"pack", folder / "images", "--out", store});
      if (!wait_for_commit(running, store, std::chrono::microseconds(300 << round % 10))) break;
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
    RunningTool running({"pack", folder / "images", "--out", store, "--json"});
    if (!wait_for_commit(running, store, std::chrono::microseconds(0))) continue;
    running.send(SIGINT);
    const ToolResult result = running.wait();
    stopped = result.status == 130;
    CHECK(result.json().contains("links_out") != stopped);  // the folder is not looked at again
    if (!stopped) {
      CHECK(result.status == 0);  // it was done already
      continue;
    }
    CHECK(one_line(result.err));
    CHECK(result.err.find("the same command continues") != std::string::npos);
    const ToolResult unfinished = tool({"verify", store});  // not taken for a whole one
    CHECK(unfinished.status == 1);
    CHECK(one_line(unfinished.err));
    CHECK(unfinished.err.find("`penstock pack`") != std::string::npos);
    CHECK(unfinished.err.find("run the same command again") != std::string::npos);
    CHECK(unfinished.err.find("allow_unfinished") == std::string::npos);
    const ToolResult rest = tool({"pack", folder / "images", "--out", store, "--json"});
    CHECK(rest.status == 0);
    CHECK(rest.json()["skipped"] > 0);
    CHECK(content(store).size() == 3000);
  }
  CHECK(stopped);
}

TEST_CASE("pack warns of files that are empty or no images, and counts what it ignores") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  folder.write("images/class_0/a.jpg", "");
  folder.write("images/class_0/b.jpg", "");
  folder.write("images/class_1/c.png", "<html>not found</html>");
  folder.write("images/class_1/notes.txt", "x");
  folder.write("images/class_1/data.npy", "x");
  for (const std::string out : {"x.lmdb", "y.lmdb"}) {
    std::vector<std::string> arguments{"pack", folder / "images", "--out", folder / out};
    if (out == "y.lmdb") arguments.emplace_back("--lsun");
    const ToolResult packed = tool(arguments);
    CHECK(packed.status == 0);
    CHECK(one_line(packed.err));
    CHECK(packed.err.find("2 files are empty, 1 file begins like no image (the first: " +
                          (folder / "images/class_0/a.jpg") + ")") != std::string::npos);
    CHECK(packed.out.find("passed over: 2 files (") != std::string::npos);
  }
  const auto json = tool({"pack", folder / "images", "--out", folder / "z.lmdb", "--json"}).json();
  CHECK(json["empty"] == 2);
  CHECK(json["no_image"] == 1);
  CHECK(json["ignored"] == 2);
  CHECK(content(folder / "z.lmdb").size() == 9);
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
  const ToolResult dropped =
      tool({"pack", folder / "images", "--out", folder / "y.lmdb", "--on-error", "drop", "--json"});
  CHECK(dropped.status == 0);
  CHECK(dropped.json()["dropped"] == 1);
  CHECK(dropped.json()["written"] == 5);
  CHECK(content(folder / "y.lmdb").size() == 5);
  const ToolResult again = tool({"pack", folder / "images", "--out", folder / "y.lmdb", "--on-error", "drop"});
  CHECK(again.out.find("finished already, 5 records") != std::string::npos);
  const ToolResult verified = tool({"verify", folder / "images", "--json"});
  CHECK(verified.status == 3);
  REQUIRE(verified.json()["bad"].size() == 1);
  CHECK(verified.json()["bad"][0]["code"] == "io");
}
