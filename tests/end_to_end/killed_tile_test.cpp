// `penstock tile`, killed at any moment and run again until it is done.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "difference.hpp"
#include "kills.hpp"
#include "sources/lmdb/raw_lmdb.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"
#include "sources/webdataset/tar_files.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

constexpr unsigned tiles = 2 * 1200;

// Without sharing tiles of the file they are copied; half a tile aside, they are blocks that are decoded and encoded.
std::vector<std::string> tile(const TempFolder& folder, const std::string& store, bool copies, std::uint64_t threads) {
  std::vector<std::string> words{
      PENSTOCK_TOOL_PATH, "tile",      folder / "a.svs",       folder / "b.svs", "--out", store, "--size", "32",
      "--quiet",          "--threads", std::to_string(threads)};
  if (!copies) words.insert(words.end(), {"--edges", "pad", "--overlap", "8"});
  return words;
}

std::function<bool(pid_t)> has_opened(const std::string& store) {
  return [data = store + "/data.mdb"](pid_t process) {
    return file_text("/proc/" + std::to_string(process) + "/maps").find(data) != std::string::npos;
  };
}

bool is_finished(const std::string& store) {
  try {
    return penstock::LmdbSource(penstock::Lmdb{.path = store}).size() >= tiles;
  } catch (const penstock::Error&) {
    return false;
  }
}

}  // namespace

TEST_CASE("a tile that is killed again and again ends with the same keys and values") {
  const TempFolder folder;
  for (const char* name : {"a.svs", "b.svs"})
    write_slide(folder / name, {.width = 40 * 32, .height = 30 * 32, .tile_width = 32, .tile_height = 32});
  Kills kills("tool: penstock tile, copied and encoded", {});

  Pairs expected[2];
  for (std::uint64_t variant = 0; variant < 2; ++variant) {
    const std::string whole = folder / ("whole" + std::to_string(variant));
    Child child(tile(folder, whole, variant == 0, 1), {}, folder / "output");
    child.watch("begun", has_opened(whole));
    kills.measure(child);
    expected[variant] = RawLmdb{whole}.read();
    REQUIRE(expected[variant].size() >= tiles);
  }

  const std::string store = folder / "killed";
  for (std::uint64_t run = 0; !kills.enough(); ++run) {
    std::filesystem::remove_all(store);
    unsigned died = 0;
    for (bool finished = false; !finished;) {
      Child child(tile(folder, store, run % 2 == 0, 1 + kills.random()() % 4), {}, folder / "output");
      child.watch("begun", has_opened(store));
      finished = !kills.strike(child, died);
      if (finished) continue;
      ++died;
      if (child.told("begun") != 0 && is_finished(store)) kills.had_finished();
    }
    INFO("after " << died << " kills, variant " << run % 2);
    REQUIRE(difference(RawLmdb{store}.read(), expected[run % 2]) == "");
    kills.run_completed();
  }
  kills.check();
}
