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
