// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/tool.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

TEST_CASE("inspect, verify and bench take CSV files") {
  const TempFolder folder;
  std::string text = "name,label,score\n";
  for (int i = 0; i < 30; ++i)
    text += "n" + std::to_string(i) + "," + std::to_string(i % 3) + "," + std::to_string(i) + ".5\n";
  folder.write("t-1.csv", text);
  const ToolResult inspected = tool({"inspect", folder / "t-1.csv", "--json"});
  REQUIRE(inspected.status == 0);
  const auto json = inspected.json();
  CHECK(json["kind"] == "csv");
  CHECK(json["records"] == 30);
  CHECK(json["schema"] == "{name: u8[?], label: i64[], score: f64[]}");
  CHECK(json["classes"][0]["records"] == 10);
  CHECK(json["unreadable"] == 0);
  CHECK(tool({"verify", folder / "t-1.csv"}).status == 0);
  folder.write("t-2.csv", "name,label,score\nx,1,2\ny,3\n");
  CHECK(tool({"inspect", folder / "t-*.csv", "--json"}).json()["records"] == 32);
  const ToolResult verified = tool({"verify", folder / "t-*.csv", "--json"});
  CHECK(verified.status == 3);
  REQUIRE(verified.json()["bad"].size() == 1);
  CHECK(verified.json()["bad"][0]["key"] == "t-2.csv:00000003");
  folder.write("n.tsv", "a\tb\n1\t2\n3\t4\n");
  CHECK(tool({"bench", folder / "n.tsv", "--stages", "batch 2", "--epochs", "1"}).status == 0);
  const ToolResult missing = tool({"inspect", folder / "none.csv"});
  CHECK(missing.status == 1);
  CHECK(one_line(missing.err));
}

TEST_CASE("inspect, verify, bench and convert take lines of JSON") {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += "{\"id\":\"k/" + std::to_string(i) + "\",\"label\":" + std::to_string(i % 3) + ",\"meta\":{\"x\":[" +
            std::to_string(i) + ",0.5]},\"tags\":[\"a\"]}\n";
  folder.write("t-1.jsonl", text);
  const ToolResult inspected = tool({"inspect", folder / "t-1.jsonl", "--json"});
  REQUIRE(inspected.status == 0);
  const auto json = inspected.json();
  CHECK(json["kind"] == "json");
  CHECK(json["records"] == 30);
  CHECK(json["schema"] == "{id: u8[?], label: i64[], meta.x: f64[2]}");
  CHECK(json["classes"][0]["records"] == 10);
  CHECK(tool({"inspect", folder / "t-1.jsonl"}).out.find("member \"tags\" is not read") != std::string::npos);
  CHECK(tool({"inspect", folder / "t-1.jsonl", "--fields", "meta.x", "--json"}).json()["schema"] == "{meta.x: f64[2]}");
  CHECK(tool({"verify", folder / "t-1.jsonl"}).status == 0);
  folder.write("t-2.ndjson", "{\"label\":1}\n{\"label\":}\n");
  const ToolResult verified = tool({"verify", folder / "t-2.ndjson", "--json"});
  CHECK(verified.status == 3);
  REQUIRE(verified.json()["bad"].size() == 1);
  CHECK(verified.json()["bad"][0]["key"] == "t-2.ndjson:00000002");
  CHECK(tool({"bench", folder / "t-1.jsonl", "--fields", "label,meta.x", "--stages", "batch 2", "--epochs", "1"})
            .status == 0);
  REQUIRE(tool({"convert", folder / "t-1.jsonl", "--key-field", "id", "--fields", "label,meta.x", "--out",
                folder / "t.lmdb", "-q"})
              .status == 0);
  const auto converted = tool({"inspect", folder / "t.lmdb", "--json"}).json();
  CHECK(converted["schema"] == "{label: i64[], meta.x: f64[2]}");
  CHECK(converted["first_key"] == "k/0");
}

TEST_CASE("what inspect and verify cost grows with the columns of a table, not with their square") {
  const TempFolder folder;
  for (const unsigned columns : {2'500u, 10'000u}) {
    std::string names, values;
    for (unsigned i = 0; i < columns; ++i) {
      names += (i == 0 ? "c" : ",c") + std::to_string(i);
      values += (i == 0 ? "" : ",") + std::to_string(i);
    }
    folder.write(std::to_string(columns) + ".csv", names + "\n" + values + "\n" + values + "\n");
  }
  for (const char* command : {"inspect", "verify"}) {
    CAPTURE(command);
    const auto least = [&](const char* file) {
      double seconds = 1e9;
      for (int i = 0; i < 3; ++i) {
        const ToolResult result = tool({command, folder / file});
        REQUIRE(result.status == 0);
        seconds = std::min(seconds, result.cpu_s);
      }
      return seconds;
    };
    const double few = least("2500.csv"), many = least("10000.csv");
    CAPTURE(few, many);
    CHECK(many < 7 * few + 0.01);
  }
}
