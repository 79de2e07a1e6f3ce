// SPDX-License-Identifier: Apache-2.0
// Class names as part of the data: which number is which, in every command.
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/tool.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

// Number and records of each class.
using Classes = std::map<std::string, std::pair<std::int64_t, std::int64_t>>;
Classes classes_of(const std::string& store) {
  Classes all;
  const auto inspected = tool({"inspect", store, "--json"}).json();
  for (const auto& one : inspected["classes"]) all[one["name"].text()] = {one["label"].whole(), one["records"].whole()};
  return all;
}

// train/{ant,bee,cow}, test/{ant,cow}.
void write_insects(const TempFolder& folder) {
  for (const char* const file : {"train/ant/1", "train/bee/2", "train/cow/3", "test/ant/4", "test/cow/5", "test/cow/6"})
    folder.write(std::string(file) + ".jpg", jpeg(static_cast<unsigned>(file[std::strlen(file) - 1])));
}

}  // namespace

TEST_CASE("a test set gets the numbers of the classes that were trained on") {
  const TempFolder folder;
  write_insects(folder);
  const auto make = [](std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const ToolResult made = tool(arguments);
    INFO(made.err);
    REQUIRE(made.status == 0);
    return made.json();
  };
  make({"pack", folder / "train", "--out", folder / "train.lmdb"});
  const Classes own{{"ant", {0, 1}}, {"cow", {1, 2}}}, wanted{{"ant", {0, 1}}, {"cow", {2, 2}}};

  make({"pack", folder / "test", "--out", folder / "own.lmdb"});
  CHECK(classes_of(folder / "own.lmdb") == own);
  const auto packed =
      make({"pack", folder / "test", "--out", folder / "packed.lmdb", "--classes", folder / "train.lmdb"});
  CHECK(packed["classes"] == std::vector<std::string>{"ant", "bee", "cow"});
  CHECK(classes_of(folder / "packed.lmdb") == wanted);
  make({"pack", folder / "test", "--out", folder / "folder.lmdb", "--classes", folder / "train"});
  CHECK(classes_of(folder / "folder.lmdb") == wanted);
  folder.write("names.txt", "ant\nbee\r\ncow\n");
  for (const std::string out : {"a.lmdb", "b.tar", "c.h5"}) {
    const auto converted =
        make({"convert", folder / "own.lmdb", "--out", folder / out, "--classes", folder / "names.txt"});
    CHECK(classes_of(converted["store"].text()) == wanted);
    const std::string back = folder / (out.substr(0, 1) + "_back.lmdb");
    make({"convert", converted["store"].text(), "--out", back});
    CHECK(classes_of(back) == wanted);
  }
  // A second run with these classes changes nothing; other classes are another job.
  CHECK(make({"convert", folder / "own.lmdb", "--out", folder / "a.lmdb", "--classes",
              folder / "names.txt"})["was_finished"] == true);
  CHECK(tool({"convert", folder / "own.lmdb", "--out", folder / "a.lmdb"}).status != 0);
}

TEST_CASE("classes that are not there, and stores without any, are told") {
  const TempFolder folder;
  write_insects(folder);
  REQUIRE(tool({"pack", folder / "test", "--out", folder / "test.lmdb", "-q"}).status == 0);
  const ToolResult packed =
      tool({"pack", folder / "train", "--out", folder / "x.lmdb", "--classes", folder / "test.lmdb"});
  CHECK(packed.status != 0);
  CHECK(packed.err.find("there is a class \"bee\"; --classes are the 2 classes: 0 ant, 1 cow") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "x.lmdb"));
  folder.write("names.txt", "cow\n");
  const ToolResult converted =
      tool({"convert", folder / "test.lmdb", "--out", folder / "x.lmdb", "--classes", folder / "names.txt"});
  CHECK(converted.status != 0);
  CHECK(converted.err.find("the class \"ant\" is not among the 1 class: 0 cow") != std::string::npos);

  folder.write("t.csv", "label,value\n0,1.5\n1,2.5\n");
  CHECK(tool({"convert", folder / "test.lmdb", "--out", folder / "x.lmdb", "--classes", folder / "t.csv"})
            .err.find("does not say what its classes are named") != std::string::npos);
  const ToolResult named =
      tool({"convert", folder / "t.csv", "--out", folder / "t.lmdb", "--classes", folder / "test.lmdb", "--json"});
  REQUIRE(named.status == 0);
  CHECK(named.json()["notes"].dump().find("which had no names, are taken for those of the 2 classes: 0 ant, 1 cow") !=
        std::string::npos);
  CHECK(classes_of(folder / "t.lmdb") == Classes{{"ant", {0, 1}}, {"cow", {1, 1}}});
  folder.write("empty.txt", "");
  CHECK(tool({"convert", folder / "t.csv", "--out", folder / "y.lmdb", "--classes", folder / "empty.txt"}).status != 0);
}

TEST_CASE("an update that gives labels other numbers says so") {
  const TempFolder folder;
  write_insects(folder);
  REQUIRE(tool({"pack", folder / "train", "--out", folder / "train.lmdb", "-q"}).status == 0);
  const std::string out = folder / "x.lmdb";
  REQUIRE(tool({"pack", folder / "test", "--out", out, "--classes", folder / "train.lmdb", "-q"}).status == 0);
  const auto update = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"pack", folder / "test", "--out", out, "--update", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return tool(arguments).json()["notes"].dump();
  };
  CHECK(update({"--classes", folder / "train.lmdb"}) == "[]");
  CHECK(update({}).find(
            "labels stood for the 3 classes: 0 ant, 1 bee, 2 cow, and stand for the 2 classes: 0 ant, 1 cow") !=
        std::string::npos);
  CHECK(tool({"pack", folder / "test", "--out", folder / "l", "--lsun", "--classes", out}).status == 2);
}

TEST_CASE("shards get no names of classes that nobody gave them") {
  const TempFolder folder;
  folder.write("t.csv", "label,age\n0,1\n1,0\n");
  folder.write("a/x-classes-age.txt", "young\nold\n");
  CHECK(tool({"convert", folder / "t.csv", "--out", folder / "a/x.tar"}).err.find("x-classes-age.txt") !=
        std::string::npos);
  folder.write("b/classes.txt", "tench\ngoldfish\n");
  CHECK(tool({"convert", folder / "t.csv", "--out", folder / "b/x.tar"}).err.find("b/classes.txt") !=
        std::string::npos);
  folder.write("c/classes.txt", "tench\ngoldfish\n");
  folder.write("names.txt", "ant\nbee\n");
  CHECK(tool({"convert", folder / "t.csv", "--out", folder / "c/x.tar", "--classes", folder / "names.txt"}).status ==
        0);
  CHECK(classes_of(folder / "c/x-000000.tar") == Classes{{"ant", {0, 1}}, {"bee", {1, 1}}});
}

TEST_CASE("inspect tells classes of every field that has some") {
  const TempFolder folder;
  folder.write("a-000000.tar",
               tar_member("k.txt", "x") + tar_member("k.label.cls", "1") + tar_member("k.age.cls", "0") + tar_end);
  folder.write("a-classes-age.txt", "young\nold\n");
  const ToolResult text = tool({"inspect", folder / "a-000000.tar"});
  CHECK(text.out.find("age   stands for 2 classes: 0 young, 1 old") != std::string::npos);
  const auto inspected = tool({"inspect", folder / "a-000000.tar", "--json"}).json();
  bool found = false;
  for (const auto& field : inspected["fields"])
    if (field["name"] == "age") found = field["classes"] == std::vector<std::string>{"young", "old"};
  CHECK(found);
}
