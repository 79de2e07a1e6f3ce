// SPDX-License-Identifier: Apache-2.0
// Files of the tool's own, which it reads again when its command is run again.
#include <filesystem>
#include <stdexcept>
#include <string>

#include "cli/tool.hpp"
#include "slow_inputs/slow_inputs.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock_test;

namespace {

void tile(const TempFolder& folder) {
  const ToolResult ended = tool({"tile", folder / "a.svs", "--out", folder / "t.lmdb", "--size", "64", "--no-sync",
                                 "--no-thumbnails", "--threads", "1", "--quiet"});
  if (ended.status != 0) throw std::runtime_error("status " + std::to_string(ended.status) + ended.err);
}

std::string left_out_line(const std::string& key, const std::string& slide, bool whole_slide) {
  return R"({"key":")" + key + R"(","slide":")" + slide + R"(","file":"a.svs","whole_slide":)" +
         (whole_slide ? "true" : R"(false,"level":0,"x":0,"y":0)") +
         R"(,"code":"io","cause":"x"})"
         "\n";
}

// A store that is finished, and a list of n slides that could not be opened, and could be when they were asked for
// again.
void finished_with_list(const TempFolder& folder, std::size_t n) {
  write_slide(folder / "a.svs", {.width = 64, .height = 64});
  tile(folder);
  std::string lines;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string slide = "slide" + std::to_string(i);
    lines += left_out_line(slide + "/whole", slide, true);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::string slide = "slide" + std::to_string(i);
    lines += left_out_line(slide + "/whole", slide, true) + left_out_line(slide + "/tile", slide, false);
  }
  folder.write("listed", lines);
}

void tile_again(const TempFolder& folder) {
  std::filesystem::copy_file(folder / "listed", folder / "t.lmdb-report/left-out.jsonl",
                             std::filesystem::copy_options::overwrite_existing);
  const ToolResult ended = tool({"tile", folder / "a.svs", "--out", folder / "t.lmdb", "--size", "64", "--no-sync",
                                 "--no-thumbnails", "--threads", "1", "--quiet"});
  if (ended.status != 3) throw std::runtime_error("status " + std::to_string(ended.status) + ended.err);
}

}  // namespace

TEST_CASE("the tool's files take time and memory as they are large") {
  check_inputs("the tool", {.seconds = 3, .megabytes = 200},
               {
                   {.name = "n slides that were left out for a while",
                    .size = 5'000,
                    .make = finished_with_list,
                    .use = tile_again},
               });
}

}  // namespace PENSTOCK_TEST_FILE
