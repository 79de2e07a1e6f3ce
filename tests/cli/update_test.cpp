// SPDX-License-Identifier: Apache-2.0
// A folder that has changed since it was packed.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/tool.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

// A file of the same size and another content, with a later time; or with the old one.
void change(const TempFolder& folder, const std::string& name, bool keep_time = false) {
  const std::filesystem::path file = folder / name;
  const auto before = std::filesystem::last_write_time(file);
  std::fstream bytes(file, std::ios::binary | std::ios::in | std::ios::out);
  bytes.seekp(static_cast<std::streamoff>(std::filesystem::file_size(file) - 20));
  bytes << "changed";
  bytes.close();
  std::filesystem::last_write_time(
      file, keep_time ? before + std::chrono::milliseconds(1) : std::filesystem::file_time_type::clock::now());
}

}  // namespace

TEST_CASE("pack names what has changed, was added, renamed or removed since, for every kind of store") {
  for (const std::string out : {"x.lmdb", "raw.lmdb", "x.tar", "x.h5"}) {
    const TempFolder folder;
    write_images(folder, 2, 12);
    std::vector<std::string> pack{"pack", folder / "images", "--out", folder / out};
    if (out == "raw.lmdb") pack.emplace_back("--lsun");
    REQUIRE(tool(pack).status == 0);
    CHECK(tool(pack).out.find("nothing to do") != std::string::npos);
    const auto refusal = [&](const std::string& words) {
      const ToolResult again = tool(pack);
      INFO(out << ": " << again.out << again.err);
      CHECK(again.status == 1);
      CHECK(one_line(again.err));
      CHECK(again.err.find(words) != std::string::npos);
      CHECK(again.err.find(out.ends_with("lmdb") ? "--update brings" : "delete the store") != std::string::npos);
    };
    change(folder, "images/class_1/0003.jpg");
    refusal("1 file changed (class_1/0003.jpg)");
    folder.write("images/class_1/0099.jpg", jpeg(99));
    refusal("1 file changed (class_1/0003.jpg), 1 file added (class_1/0099.jpg)");
    std::filesystem::rename(folder / "images/class_0/0002.jpg", folder / "images/class_0/0050.jpg");
    refusal(
        "1 file changed (class_1/0003.jpg), 2 files added (class_0/0050.jpg, class_1/0099.jpg), 1 file removed or "
        "renamed (class_0/0002)");
    if (out.ends_with("lmdb")) continue;
    pack.emplace_back("--update");
    CHECK(tool(pack).status == 2);
  }
}

TEST_CASE("a change in place that keeps the size, and nearly the time, is noticed") {
  const TempFolder folder;
  write_images(folder, 1, 4);
  const std::vector<std::string> pack{"pack", folder / "images", "--out", folder / "x.lmdb"};
  REQUIRE(tool(pack).status == 0);
  change(folder, "images/class_0/0001.jpg", true);
  const ToolResult again = tool(pack);
  CHECK(again.status == 1);
  CHECK(again.err.find("files have other times") != std::string::npos);
  std::vector<std::string> update = pack;
  update.insert(update.end(), {"--update", "--json"});
  const auto json = tool(update).json();
  CHECK(json["updated"] == Json::parse(R"({"replaced": 1, "added": 0, "removed": 0, "kept": 3})"));
  CHECK(tool(pack).out.find("nothing to do") != std::string::npos);
}

TEST_CASE("pack --update makes of an LMDB what a new one would be") {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{}, {"--lsun"}, {"--seekable"}}) {
    const TempFolder folder;
    write_images(folder, 2, 40);
    std::vector<std::string> pack{"pack", folder / "images", "--out", folder / "x.lmdb"};
    pack.insert(pack.end(), more.begin(), more.end());
    REQUIRE(tool(pack).status == 0);
    change(folder, "images/class_1/0003.jpg");
    folder.write("images/class_1/0004.jpg", jpeg(4, 100, 120));
    folder.write("images/another/0.jpg", jpeg(99));  // the classes' numbers change
    std::filesystem::remove(folder / "images/class_0/0038.jpg");
    std::vector<std::string> update = pack;
    update.insert(update.end(), {"--update", "--json"});
    const ToolResult updated = tool(update);
    INFO(updated.err);
    REQUIRE(updated.status == 0);
    CHECK(updated.json()["updated"]["removed"] == 1);
    CHECK(updated.json()["updated"]["kept"] == (more == std::vector<std::string>{"--lsun"} ? 38 : 0));
    std::vector<std::string> fresh = pack;
    fresh[3] = folder / "fresh.lmdb";
    REQUIRE(tool(fresh).status == 0);
    CHECK(content(folder / "x.lmdb") == content(folder / "fresh.lmdb"));
    if (more.empty()) CHECK(tool({"inspect", folder / "x.lmdb", "--json"}).json()["classes"][0]["name"] == "another");
    CHECK(tool({"verify", folder / "x.lmdb", "--no-decode"}).status == 0);
    CHECK(tool(pack).out.find("nothing to do") != std::string::npos);
  }
}

TEST_CASE("an update from a folder that has hardly any of the store's records is refused unless it is forced") {
  for (const bool bare : {false, true}) {
    const TempFolder folder;
    write_images(folder, 2, 40);
    const std::string store = folder / "x.lmdb";
    std::vector<std::string> pack{"pack", folder / "images", "--out", store};
    if (bare) pack.emplace_back("--lsun");
    REQUIRE(tool(pack).status == 0);
    const auto before = content(store);
    REQUIRE(before.size() == 40);
    const auto update = [&](const std::string& from, bool force) {
      std::vector<std::string> command = pack;
      command[1] = folder / from;
      command.insert(command.end(), {"--update", "--json"});
      if (force) command.emplace_back("--force");
      return tool(command);
    };
    folder.write("typo/class_0/other.jpg", jpeg(1));
    const ToolResult typo = update("typo", false);
    CHECK(typo.status == 1);
    CHECK(one_line(typo.err));
    CHECK(typo.err.find("of the store's 40 records the folder has none") != std::string::npos);
    CHECK(typo.err.find("would remove 40") != std::string::npos);
    CHECK(typo.err.find("--force") != std::string::npos);
    CHECK(content(store) == before);
    CHECK(tool(pack).out.find("nothing to do") != std::string::npos);

    // 3 of 40 are fewer than a tenth, 4 are not.
    for (const std::string name : {"class_0/0000", "class_1/0001", "class_0/0002"})
      folder.write("typo/" + name + ".jpg", jpeg(1));
    const ToolResult few = update("typo", false);
    CHECK(few.status == 1);
    CHECK(few.err.find("has 3, so --update would remove 37") != std::string::npos);
    CHECK(content(store) == before);
    folder.write("typo/class_1/0003.jpg", jpeg(3));
    const ToolResult tenth = update("typo", false);
    INFO(tenth.err);
    CHECK(tenth.status == 0);
    CHECK(tenth.json()["updated"]["removed"] == 36);

    // What is meant is done; a store that isn't there yet is made.
    folder.write("others/class_0/quite.jpg", jpeg(7));
    CHECK(update("others", false).status == 1);
    CHECK(update("others", true).json()["updated"]["removed"] == 5);
    CHECK(content(store).size() == 1);
    std::filesystem::remove_all(store);
    CHECK(update("others", false).status == 0);
    CHECK(content(store).size() == 1);
    std::vector<std::string> alone = pack;
    alone.emplace_back("--force");
    CHECK(tool(alone).status == 2);
  }
}

TEST_CASE("an update that was killed goes on as an update, and as nothing else") {
  const TempFolder folder;
  write_images(folder, 4, 4000);
  const std::string store = folder / "x.lmdb";
  const std::vector<std::string> pack{"pack", folder / "images", "--out", store, "-q"};
  REQUIRE(tool(pack).status == 0);
  for (unsigned i = 0; i < 4000; i += 2) {
    char name[64];
    std::snprintf(name, sizeof name, "images/class_%u/%04u.jpg", i % 4, i);
    folder.write(name, jpeg(i + 1));
  }
  std::vector<std::string> update = pack;
  update.emplace_back("--update");
  bool stopped = false;
  for (int round = 0; round < 20 && !stopped; ++round) {
    RunningTool running(update);
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + 15 * round));
    running.send(SIGKILL);
    stopped = running.wait().status != 0 && tool({"inspect", store}).status == 1;
    if (!stopped) continue;
    const ToolResult plain = tool(pack);
    CHECK(plain.status == 1);
    CHECK(plain.err.find("update") != std::string::npos);
  }
  CHECK(stopped);
  REQUIRE(tool(update).status == 0);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "fresh.lmdb", "-q"}).status == 0);
  CHECK(content(store) == content(folder / "fresh.lmdb"));
}

// Tar shards and bare values have a file beside them that says what they were made from.
TEST_CASE("a finished store is not taken for another command's") {
  const TempFolder folder;
  write_images(folder, 2, 20);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "from.lmdb", "-q"}).status == 0);
  const std::vector<std::vector<std::string>> commands{
      {"pack", folder / "images", "--out", folder / "a.tar"},
      {"pack", folder / "images", "--out", folder / "b.mdb", "--lsun"},
      {"convert", folder / "from.lmdb", "--out", folder / "c.tar"},
      {"convert", folder / "from.lmdb", "--out", folder / "d.tar", "--keys", "position"},
      {"convert", folder / "from.lmdb", "--out", folder / "e.tar", "--on-error", "drop"}};
  for (const auto& command : commands) {
    REQUIRE(tool(command).status == 0);
    CHECK(tool(command).out.find("nothing to do") != std::string::npos);
    std::vector<std::string> seekable = command;
    seekable.emplace_back("--seekable");
    const ToolResult refused = tool(seekable);
    INFO(command[3] << ": " << refused.err);
    CHECK(refused.status == 1);
    CHECK(one_line(refused.err));
    CHECK(refused.err.find("another job made it") != std::string::npos);
  }
  // A file of the same size that is, as copies of old files are, of an old time.
  change(folder, "images/class_1/0003.jpg");
  std::filesystem::last_write_time(folder / "images/class_1/0003.jpg",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1000));
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "from.lmdb", "--update", "-q"}).status == 0);
  for (const auto& command : commands) {
    const ToolResult refused = tool(command);
    INFO(command[3] << ": " << refused.err);
    CHECK(refused.status == 1);
    CHECK(one_line(refused.err));
  }
}

TEST_CASE("a finished store of more fields is another one, and one whose name has braces is found finished") {
  const TempFolder folder;
  folder.write("t.csv", "name,label\na,1\nb,2\nc,3\n");
  const std::vector<std::string> all{"convert", folder / "t.csv", "--out", folder / "t.tar"};
  REQUIRE(tool(all).status == 0);
  std::vector<std::string> part = all;
  part.insert(part.end(), {"--fields", "name"});
  const ToolResult refused = tool(part);
  CHECK(refused.status == 1);
  CHECK(refused.err.find("another job made it (fields: there") != std::string::npos);
  const std::vector<std::string> braces{"convert", folder / "t.csv", "--out", folder / "a{b}c.tar", "--shard-samples",
                                        "2"};
  REQUIRE(tool(braces).status == 0);
  CHECK(tool(braces).out.find("nothing to do") != std::string::npos);
}
