// SPDX-License-Identifier: Apache-2.0
// inspect of a large store looks at a sample of it, and says so.
#include <cstdint>
#include <string>
#include <vector>

#include "cli/tool.hpp"
#include "sources/hdf5/files.hpp"
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
    CHECK(json["looked_at"].whole() <= 12'000);
    CHECK(json["looked_at"].whole() >= 5'000);
    REQUIRE(json["classes"].size() == 5);
    for (const auto& one : json["classes"]) {
      const double share = one["records"].number() / json["looked_at"].number();
      INFO(name << ", class " << one["label"] << ": " << share);
      CHECK((share > 0.18 && share < 0.22));
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

TEST_CASE("a sample of blocks of unlike sizes has of each as much as there is") {
  const TempFolder folder;
  const auto write = [&](const std::string& name, hsize_t rows, hsize_t chunk, std::int64_t label) {
    H5Data data{.path = "label", .type = h5_type<std::int64_t>(), .shape = {rows}};
    data.layout = H5D_CHUNKED;
    data.chunk = {chunk};
    data.values = bytes_of(std::vector<std::int64_t>(rows, label));
    write_h5(folder / name, {.data = {data}});
  };
  for (int i = 0; i < 40; ++i) write("p-" + std::to_string(100 + i) + ".h5", 5, 5, 0);
  write("p-900.h5", 3'000'000, 1'500'000, 1);
  const auto json = tool({"inspect", folder / "p-*.h5", "--json"}).json();
  CHECK(json["records"] == 3'000'200);
  CHECK(json["looked_at"].whole() > 9'000);
  CHECK(json["looked_at"].whole() < 11'000);
  CHECK(json["classes"].back()["name"] == "1");
  CHECK(json["classes"].back()["records"].number() > 0.95 * json["looked_at"].number());
}
