// SPDX-License-Identifier: Apache-2.0
// --fields: a part of a store.
#include "cli/tool.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

TEST_CASE("every command takes a part of a store's fields") {
  const TempFolder folder;
  folder.write("t.csv", "name,label,score\na,1,0.5\nb,2,1.5\nc,0,3\n");
  for (const std::string out : {"t.lmdb", "t.h5", "t.tar"})
    REQUIRE(tool({"convert", folder / "t.csv", "--out", folder / out, "-q"}).status == 0);
  for (const std::string name : {"t.csv", "t.lmdb", "t.h5", "t-000000.tar"}) {
    const std::string store = folder / name;
    const ToolResult inspected = tool({"inspect", store, "--fields", "score,label", "--json"});
    INFO(name << ": " << inspected.err);
    REQUIRE(inspected.status == 0);
    CHECK(inspected.json()["schema"] == "{score: f64[], label: i64[]}");
    CHECK(inspected.json()["fields"].size() == 2);
    // In another order than the store's.
    const auto turned = tool({"inspect", store, "--fields", "score,name", "--json"}).json()["fields"];
    CHECK(turned[0]["bytes"]["total"] == 3 * 8);
    CHECK(turned[1]["bytes"]["total"] == 3);
    CHECK(tool({"verify", store, "--fields", "label", "--json"}).json()["bytes"] == 3 * 8);
    CHECK(tool({"bench", store, "--fields", "label", "--stages", "batch 2", "--epochs", "1", "-q"}).status == 0);
    const std::string out = folder / ("part-" + name.substr(0, 5) + ".lmdb/");
    REQUIRE(tool({"convert", store, "--fields", "score,label", "--out", out, "-q"}).status == 0);
    CHECK(tool({"inspect", out, "--json"}).json()["schema"] == "{score: f64[], label: i64[]}");

    const ToolResult unknown = tool({"inspect", store, "--fields", "label,colour"});
    CHECK(unknown.status != 0);
    CHECK(one_line(unknown.err));
    CHECK(unknown.err.find("colour") != std::string::npos);
  }
  for (const std::string wrong : {"", "label,", "label,label"}) {
    const ToolResult refused = tool({"inspect", folder / "t.csv", "--fields", wrong});
    CHECK(refused.status == 2);
    CHECK(refused.err.find("--fields") != std::string::npos);
  }
}

TEST_CASE("a word of a store, and the names of its fields, make no long line of an error") {
  const TempFolder folder;
  std::string names = "c", values = "1";
  for (int i = 0; i < 1'000; ++i) names += ",c" + std::to_string(i), values += ",1";
  folder.write("many.csv", names + "\n" + values + "\n");
  REQUIRE(tool({"convert", folder / "many.csv", "--out", folder / "many.lmdb", "-q"}).status == 0);
  const ToolResult unknown = tool({"inspect", folder / "many.lmdb", "--fields", "colour"});
  CHECK(unknown.status == 2);
  CHECK(one_line(unknown.err));
  CHECK(unknown.err.find("there is no field \"colour\"") != std::string::npos);
  CHECK(unknown.err.size() < 2'500);
  folder.write("word.csv", "a,b\n1,2\n1," + std::string(400'000, 'x') + "x,\n");
  const ToolResult bad = tool({"verify", folder / "word.csv"});
  CHECK(bad.status == 3);
  CHECK(bad.out.size() + bad.err.size() < 2'500);
}
