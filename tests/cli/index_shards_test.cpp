// SPDX-License-Identifier: Apache-2.0
// penstock index of tar shards.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/tool.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

std::string shard(int samples) {
  std::string tar;
  for (int i = 0; i < samples; ++i) tar += tar_member("s" + std::to_string(i) + ".txt", std::to_string(i));
  return tar + tar_end;
}

}  // namespace

TEST_CASE("penstock index writes the index files of tar shards") {
  const TempFolder folder;
  for (int i = 0; i < 3; ++i) folder.write("in/t-" + std::to_string(i) + ".tar", shard(i + 1));
  const std::string right = "v1.2 2\ntxt 512 1 s0.txt\ntxt 1536 1 s1.txt\n";
  const ToolResult made = tool({"index", folder / "in/t-0.tar", folder / "in/t-1.tar", folder / "in/t-2.tar"});
  CHECK(made.status == 0);
  CHECK(made.out == "3 index files of 6 samples: 3 written\n");
  CHECK(file_text(folder / "in/t-1.idx") == right);
  CHECK(tool({"index", folder / "in"}).out == "3 index files of 6 samples: 0 written, 3 were right already\n");
  folder.write("in/t-1.tar", shard(2) + std::string(512, '\0'));
  folder.write("in/t-2.tar", shard(1));
  const ToolResult again = tool({"index", folder / "in/*.tar", "--json"});
  CHECK(again.status == 0);
  CHECK(again.json()["written"] == 1);
  CHECK(again.json()["samples"] == 4);
  CHECK(again.json()["files"][1] == folder / "in/t-1.idx");
  CHECK(tool({"index", folder / "in", "--out", folder / "out/idx", "--quiet", "--threads", "1"}).out.empty());
  CHECK(file_text(folder / "out/idx/t-1.idx") == right);
}

TEST_CASE("penstock index says what is wrong with shards") {
  const TempFolder folder;
  folder.write("a.tar", shard(1));
  folder.write("b c.tar", tar_member("b c.txt", "") + tar_end);
  folder.write("a.svs", "no slide");
  struct Case {
    std::vector<std::string> arguments;
    int status;
    const char* says;
  };
  for (const auto& [arguments, status, says] :
       {Case{{"index", folder / "b c.tar"}, 1, "b c.txt"}, Case{{"index", folder / "none.tar"}, 1, "none.tar"},
        Case{{"index", folder / "a.tar", folder / "a.svs"}, 2, "a.svs"},
        Case{{"index", folder / "a.tar", "--size", "64"}, 2, "--size"},
        Case{{"index", folder / "a.svs"}, 2, "--out is required"}}) {
    const ToolResult result = tool(arguments);
    INFO(result.err);
    CHECK(result.status == status);
    CHECK(one_line(result.err));
    CHECK(result.err.find(says) != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(folder.path() / "a.idx"));
}
