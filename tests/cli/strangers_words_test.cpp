// SPDX-License-Identifier: Apache-2.0
// What files of others say goes into terminals, tables and pages.
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;
namespace fs = std::filesystem;

TEST_CASE("names of slides neither turn a terminal's line around nor become formulas in a table") {
  const TempFolder folder;
  fs::create_directory(folder / "slides");
  for (const std::string name : {"=1+1", "+b", "-c", "@d", "gpj\u202esvs.e", "f\u0085g", "plain"})
    write_slide(folder / ("slides/" + name + ".svs"), {.width = 130, .height = 130});
  const ToolResult made = tool({"tile", folder / "slides", "--out", folder / "t.tar", "--size", "64"});
  CAPTURE(made.err);
  REQUIRE(made.status == 0);
  const std::string table = text_in(folder / "t.tar-report/slides.csv");
  CAPTURE(table);
  for (const std::string line :
       {"\n'=1+1,", "\n'+b,", "\n'-c,", "\n'@d,", "\ngpj\\xe2\\x80\\xaesvs.e,", "\nf\\xc2\\x85g,", "\nplain,"})
    CHECK(table.find(line) != std::string::npos);
  CHECK(table.find("\u202e") == std::string::npos);
  const ToolResult missing = tool({"inspect", folder / "no\u202ewhere.svs"});
  CHECK(missing.status == 1);
  CHECK(missing.err.find("no\\xe2\\x80\\xaewhere.svs") != std::string::npos);
  CHECK(missing.err.find("\u202e") == std::string::npos);
}

TEST_CASE("JSON that nests deep is refused by the file's name") {
  const TempFolder folder;
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  folder.write("deep.json", deep);
  folder.write("in.json", "{\"runs\": [{\"report\": " + deep + "}]}");
  for (const std::string file : {"deep.json", "in.json"})
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"report", folder / file},
                                               {"report", folder / file, "--html", folder / "page.html"},
                                               {"inspect", folder / file},
                                               {"verify", folder / file}}) {
      const ToolResult refused = tool(words);
      CAPTURE(words, refused.err);
      CHECK((refused.status == 1 || refused.status == 2));
      CHECK(refused.err.find(file) != std::string::npos);
    }
  CHECK_FALSE(fs::exists(folder / "page.html"));
}

TEST_CASE("a report folder of which a value is of another kind is refused by its file") {
  const TempFolder folder;
  fs::create_directory(folder / "slides");
  write_slide(folder / "slides/a.svs", {.width = 130, .height = 130});
  const std::vector<std::string> words{"tile", folder / "slides", "--out", folder / "t.tar", "--size", "64"};
  REQUIRE(tool(words).status == 0);
  const std::string file = folder / "t.tar-report/run.json";
  const nlohmann::json own = nlohmann::json::parse(text_in(file));
  std::string deep = own.dump();
  const std::size_t size = deep.find("\"size\":64");
  REQUIRE(size != std::string::npos);
  deep.replace(size + 7, 2, std::string(100'000, '[') + std::string(100'000, ']'));
  folder.write("t.tar-report/run.json", deep);
  const ToolResult nested = tool(words);
  CAPTURE(nested.err);
  CHECK(nested.status == 1);
  CHECK(nested.err.find("nests deeper than 100") != std::string::npos);
  for (const std::string name : {"store", "hash", "rank", "world", "settings", "files", "result", "slides"}) {
    nlohmann::json forged = own;
    forged[name] = name == "result" ? nlohmann::json("done") : nlohmann::json(-1.5);
    folder.write("t.tar-report/run.json", forged.dump());
    const ToolResult refused = tool(words);
    CAPTURE(name, refused.err);
    CHECK(refused.status == 1);
    CHECK(refused.err.find("it is no manifest of a run") != std::string::npos);
    CHECK(refused.err.find(file) != std::string::npos);
  }
}

}  // namespace PENSTOCK_TEST_FILE
