// inspect of a large store looks at a sample of it, and says so.
#include "cli/tool.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

TEST_CASE("inspect looks at a sample of many records, spread evenly, and at all when asked to") {
  const TempFolder folder;
  std::string text = "x,label\n";
  for (int i = 0; i < 25'000; ++i) text += std::to_string(i) + "," + std::to_string(i / 5000) + "\n";
  folder.write("t.csv", text);
  REQUIRE(tool({"convert", folder / "t.csv", "--out", folder / "t.h5", "-q"}).status == 0);  // has blocks
  for (const std::string name : {"t.csv", "t.h5"}) {
    const auto json = tool({"inspect", folder / name, "--json"}).json();
    CHECK(json["records"] == 25'000);
    CHECK(json["looked_at"].get<int>() <= 12'000);
    CHECK(json["looked_at"].get<int>() >= 5'000);
    if (name == "t.csv") {
      REQUIRE(json["classes"].size() == 5);
      for (const auto& one : json["classes"]) CHECK(one["records"] == 2000);
    }
    const ToolResult shown = tool({"inspect", folder / name});
    CHECK(shown.out.find("records, spread evenly; --all looks at every one") != std::string::npos);
    CHECK(shown.out.find("about 195.3 KiB in all") != std::string::npos);
    const auto all = tool({"inspect", folder / name, "--all", "--json"}).json();
    CHECK(all["looked_at"] == 25'000);
    CHECK(all["classes"][0]["records"] == 5000);
  }
  CHECK(tool({"inspect", folder / "t.csv", "--all"}).out.find("--all") == std::string::npos);
}
