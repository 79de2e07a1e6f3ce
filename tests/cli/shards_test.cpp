// SPDX-License-Identifier: Apache-2.0
#include "cli/tool.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

TEST_CASE("inspect, verify and bench take tar shards") {
  const TempFolder folder;
  for (unsigned shard = 0; shard < 2; ++shard) {
    std::string bytes;
    for (unsigned i = 0; i < 10; ++i) {
      const std::string key = "photo" + std::to_string(shard * 10 + i);
      bytes += tar_member(key + (i % 5 == 4 ? ".jpeg" : ".jpg"), jpeg(shard * 10 + i));
      bytes += tar_member(key + ".cls", std::to_string(i % 3));
    }
    folder.write("shards/t-" + std::to_string(shard) + ".tar", bytes + tar_end);
  }
  for (const std::string path : {"shards", "shards/t-{0..1}.tar", "shards/*.tar"}) {
    const ToolResult inspected = tool({"inspect", folder / path, "--json"});
    REQUIRE(inspected.status == 0);
    const auto json = inspected.json();
    CHECK(json["kind"] == "webdataset");
    CHECK(json["records"] == 20);
    CHECK(json["schema"] == "{image: u8[?], label: i64[]}");
    CHECK(json["images"]["jpeg"] == 20);
    CHECK(json["classes"][0]["records"] == 8);
    CHECK(json["unreadable"] == 0);
    const ToolResult verified = tool({"verify", folder / path, "--json"});
    CHECK(verified.status == 0);
    CHECK(verified.json()["decoded"] == 20);
    CHECK(verified.json()["checksums"] == false);
  }
  CHECK(
      tool({"bench", folder / "shards", "--stages", "decode_jpeg | random_resized_crop 24 | batch 4", "--epochs", "1"})
          .status == 0);

  folder.write("bad.tar", tar_member("a.jpg", jpeg(1)) + tar_member("b.jpg", jpeg(2).substr(0, 400)) +
                              tar_member("c.jpg", "no image") + tar_end);
  const ToolResult verified = tool({"verify", folder / "bad.tar", "--json"});
  CHECK(verified.status == 3);
  REQUIRE(verified.json()["bad"].size() == 2);
  CHECK(verified.json()["bad"][0]["key"] == "b");
  folder.write("cut.tar", tar_member("a.jpg", jpeg(1)).substr(0, 600));
  const ToolResult cut = tool({"inspect", folder / "cut.tar"});
  CHECK(cut.status == 1);
  CHECK(one_line(cut.err));
  CHECK(cut.err.find("truncated") != std::string::npos);
}
