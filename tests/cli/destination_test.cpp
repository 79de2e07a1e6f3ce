// SPDX-License-Identifier: Apache-2.0
// --out means what it says, and what is written is what is reported.
#include <filesystem>

#include "cli/tool.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

TEST_CASE("an extension names the kind of store, for pack and convert alike") {
  const TempFolder folder;
  write_images(folder, 2, 10);
  REQUIRE(tool({"pack", folder / "images", "--out", folder / "src.lmdb", "-q"}).status == 0);
  for (const std::string command : {"pack", "convert"}) {
    const std::string from = folder / (command == "pack" ? "images" : "src.lmdb");
    const auto kind_of = [&](const std::string& out, const std::vector<std::string>& more = {}) {
      std::vector<std::string> arguments{command, from, "--out", folder / (command + out), "--json"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const ToolResult made = tool(arguments);
      INFO(made.err);
      REQUIRE(made.status == 0);
      const std::string store = made.json()["store"].text();  // opens as it is reported
      const ToolResult inspected = tool({"inspect", store, "--json"});
      INFO(inspected.err);
      REQUIRE(inspected.status == 0);
      CHECK(inspected.json()["records"] == 10);
      return inspected.json()["kind"].text();
    };
    CHECK(kind_of("a") == "lmdb");
    CHECK(kind_of("b.lmdb") == "lmdb");
    CHECK(kind_of("c.mdb") == "lmdb");
    CHECK(std::filesystem::is_regular_file(folder / (command + "c.mdb")));
    CHECK(kind_of("d.zip/") == "lmdb");
    CHECK(kind_of("d.zip") == "lmdb");  // what is there already is no mistake
    CHECK(kind_of("e.tar") == "webdataset");
    CHECK(kind_of("f.TAR", {"--shard-samples", "3"}) == "webdataset");
    CHECK(std::filesystem::exists(folder / (command + "f-000003.tar")));
    CHECK(kind_of("g.h5") == "hdf5");
    CHECK(std::filesystem::exists(folder / (command + "g.h5")));
    CHECK(kind_of("h.h5", {"--shard-samples", "4"}) == "hdf5");
    CHECK(std::filesystem::exists(folder / (command + "h-000002.h5")));
  }
  const ToolResult hint = tool({"inspect", folder / "packe.tar"});
  CHECK(hint.status == 1);
  CHECK(hint.err.find("packe-000000.tar") != std::string::npos);
}

TEST_CASE("other extensions, and places where something else is, are refused") {
  const TempFolder folder;
  write_images(folder, 1, 3);
  folder.write("src.csv", "a,b\n1,2\n");
  folder.write("full/notes.txt", "x");
  folder.write("file", "x");
  folder.write("there.tar", "x");
  std::filesystem::create_directories(folder / "empty");
  std::filesystem::create_directories(folder / "folder.h5");
  struct Case {
    std::vector<std::string> more;
    std::string says;
  };
  for (const std::string command : {"pack", "convert"}) {
    for (const Case& c : std::vector<Case>{{{"x.tar.gz"}, ".tar.gz"},
                                           {{"x.zip"}, ".zip"},
                                           {{"x.csv"}, "X.h5 an HDF5 file"},
                                           {{"x.v2"}, "x.v2/"},
                                           {{"full"}, "notes.txt"},
                                           {{"file"}, "is a file"},
                                           {{"there.tar"}, "there-000000.tar"},
                                           {{"folder.h5"}, "is a folder"},
                                           {{"x.lmdb", "--shard-samples", "4"}, "no shards"},
                                           {{"x.tar", "--shard-bytes", "0"}, "--shard-bytes"}}) {
      std::vector<std::string> arguments{command, folder / (command == "pack" ? "images" : "src.csv"), "--out"};
      arguments.insert(arguments.end(), c.more.begin(), c.more.end());
      arguments[3] = folder / arguments[3];
      const ToolResult refused = tool(arguments);
      INFO(command << " " << c.more[0] << ": " << refused.err);
      CHECK(refused.status == 2);
      CHECK(one_line(refused.err));
      CHECK(refused.err.find(c.says) != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(folder / "full/data.mdb"));
    CHECK_FALSE(std::filesystem::exists(folder / "x.zip"));
  }
  CHECK(tool({"pack", folder / "images", "--out", folder / "empty", "-q"}).status == 0);
  CHECK(std::filesystem::exists(folder / "empty/data.mdb"));
}
