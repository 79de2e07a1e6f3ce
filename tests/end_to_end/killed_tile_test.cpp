// `penstock tile`, killed at any moment and run again until it is done.
#include <cstdint>
#include <string>
#include <vector>

#include "killed_tool.hpp"
#include "sources/slide/slide_files.hpp"

using namespace penstock_test;

TEST_CASE("a tile that is killed again and again ends with the same keys and values") {
  const TempFolder folder;
  for (const char* name : {"a.svs", "b.svs"})
    write_slide(folder / name, {.width = 40 * 32, .height = 30 * 32, .tile_width = 32, .tile_height = 32});
  kill_tool(
      "tool: penstock tile, copied and encoded", folder, 2 * 40 * 30,
      [&](const std::string& store, std::uint64_t variant, std::uint64_t threads) {
        std::vector<std::string> words{
            PENSTOCK_TOOL_PATH, "tile",      folder / "a.svs",       folder / "b.svs", "--out", store, "--size", "32",
            "--quiet",          "--threads", std::to_string(threads)};
        // Whole tiles of the file are copied; places that overlap are decoded from blocks and encoded.
        if (variant == 1) words.insert(words.end(), {"--edges", "pad", "--overlap", "8"});
        return words;
      });
}
