// SPDX-License-Identifier: Apache-2.0
// --json means the same in every command.
#include <filesystem>

#include "cli/tool.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

const std::vector<std::vector<std::string>> commands{
    {"pack", "--out", "+x.lmdb", "+images"},
    {"inspect", "+x.lmdb"},
    {"verify", "+x.lmdb"},
    {"bench", "--epochs", "1", "--stages", "decode_jpeg | resize 16 | batch 4", "+x.lmdb"}};

// A word that begins with + is the name of something in the folder.
ToolResult run(const TempFolder& folder, std::vector<std::string> command, const std::vector<std::string>& json) {
  for (std::string& word : command)
    if (word.front() == '+') word = folder / word.substr(1);
  command.insert(command.end() - 1, json.begin(), json.end());  // the last word, a store or folder, stays the last
  return tool(command);
}

Json in_file(const std::string& name) { return Json::parse(text_in(name)); }

}  // namespace

TEST_CASE("a lone --json prints JSON on stdout, and takes no store for a file") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  for (const auto& command : commands) {
    for (const std::vector<std::string>& json : std::vector<std::vector<std::string>>{{"--json"}, {"--json", "-"}}) {
      const ToolResult result = run(folder, command, json);
      INFO(command[0] << ": " << result.err);
      REQUIRE(result.status == 0);
      CHECK(result.json()["store"] == folder / "x.lmdb");
    }
  }
  CHECK(tool({"verify", folder / "x.lmdb", "--json"}).json()["records"] == 6);
  CHECK_FALSE(std::filesystem::exists("-"));
}

TEST_CASE("a file after --json is written, beside the text") {
  const TempFolder folder;
  write_images(folder, 2, 6);
  for (const auto& command : commands) {
    const std::string named = folder / (command[0] + ".json"), other = folder / (command[0] + ".txt");
    for (const std::vector<std::string>& json :
         std::vector<std::vector<std::string>>{{"--json", named}, {"--json=" + other}}) {
      const ToolResult result = run(folder, command, json);
      INFO(command[0] << ": " << result.err);
      REQUIRE(result.status == 0);
      CHECK_FALSE(result.out.empty());
      CHECK(result.out.find("\"store\"") == std::string::npos);
    }
    CHECK(in_file(named)["store"] == folder / "x.lmdb");
    CHECK(in_file(other)["store"] == folder / "x.lmdb");
    const ToolResult help = tool({command[0], "--help"});
    CHECK(help.out.find("--json FILE.json") != std::string::npos);
    CHECK(help.out.find("Exit status: 0 done") != std::string::npos);
  }
  CHECK(tool({"verify", folder / "x.lmdb", "--json", folder / "any"}).status == 0);
  CHECK(in_file(folder / "any")["records"] == 6);
  CHECK(tool({"verify", folder / "x.lmdb", "--json", "--no-such-option"}).status == 2);
  CHECK(tool({"verify", folder / "x.lmdb", "--json="}).status == 2);
  CHECK(tool({"verify", folder / "x.lmdb", "--json", "/proc/nowhere/x.json"}).status == 1);
}
