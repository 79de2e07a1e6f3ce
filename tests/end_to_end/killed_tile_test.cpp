// SPDX-License-Identifier: Apache-2.0
// `penstock tile`, killed at any moment and run again until it is done.
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "killed_tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "support/paths.hpp"

using namespace penstock_test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t columns = 40, rows = 30;
constexpr int some_left_out = 3;  // the exit status

// One tile of each is damaged, and a third slide can't be read at all.
void write_cohort(const TempFolder& folder) {
  for (const char* name : {"a.svs", "b.svs"}) {
    const WrittenSlide slide =
        write_slide(folder / name, {.width = columns * 32, .height = rows * 32, .tile_width = 32, .tile_height = 32});
    slide.set_size(77, 0);
  }
  folder.write("c.svs", "no slide");
}

std::vector<std::string> tile_words(const TempFolder& folder, const std::string& store, std::uint64_t variant,
                                    std::uint64_t threads) {
  std::vector<std::string> words{path_of("tool"),
                                 "tile",
                                 folder / "a.svs",
                                 folder / "b.svs",
                                 folder / "c.svs",
                                 "--out",
                                 store,
                                 "--size",
                                 "32",
                                 "--quiet",
                                 "--no-thumbnails",
                                 "--threads",
                                 std::to_string(threads)};
  // Whole tiles of the file are copied; places that overlap are decoded from blocks and encoded.
  if (variant == 1) words.insert(words.end(), {"--edges", "pad", "--overlap", "8"});
  return words;
}

// Every file of the store, and what was left out. Of its report's others, two say how long it took.
std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string(), base = entry.path().filename().string();
    if (entry.is_regular_file() && base != "run.json" && base != "index.html" && base != ".lock")
      files[name] = file_text(entry.path().string());
  }
  return files;
}

std::string first_difference(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b) {
  for (const auto& [name, content] : a)
    if (!b.contains(name) || b.at(name) != content) return name;
  for (const auto& [name, content] : b)
    if (!a.contains(name)) return name;
  return {};
}

// Kills what writes OUT/tiles.KIND, in an empty folder each time, until it is done.
void kill_tile(const std::string& kind) {
  const TempFolder folder;
  write_cohort(folder);
  Kills kills("tool: penstock tile into " + (kind == "/" ? "a folder" : kind), {});
  const auto begun = [](const std::string& out) {
    return [out](pid_t) {
      std::error_code failed;
      for (const fs::directory_entry& entry : fs::directory_iterator(out, failed))
        if (entry.path().string().find("unfinished") != std::string::npos ||
            fs::exists(entry.path() / "records.csv-unfinished.json", failed))
          return true;
      return false;
    };
  };
  const auto words = [&](const std::string& out, std::uint64_t variant, std::uint64_t threads) {
    std::vector<std::string> all = tile_words(folder, out + "/tiles" + kind, variant, threads);
    if (kind.ends_with("/")) all.insert(all.end(), {"--form", "folder"});
    if (kind == ".tar") all.insert(all.end(), {"--shard-samples", "700"});
    return all;
  };
  std::map<std::string, std::string> expected[2];
  for (std::uint64_t variant = 0; variant < 2; ++variant) {
    const std::string whole = folder / ("whole" + std::to_string(variant));
    fs::create_directory(whole);
    Child child(words(whole, variant, 1), {}, folder / "output");
    child.ends_with(some_left_out);
    child.watch("begun", begun(whole));
    kills.measure(child);
    expected[variant] = files_of(whole);
    REQUIRE(expected[variant].contains((kind == "/" ? "tiles" : "tiles" + kind) + "-report/left-out.jsonl"));
  }
  const std::string out = folder / "killed";
  for (std::uint64_t run = 0; !kills.enough(); ++run) {
    fs::remove_all(out);
    fs::create_directory(out);
    unsigned died = 0;
    for (bool finished = false; !finished;) {
      Child child(words(out, run % 2, 1 + kills.random()() % 4), {}, folder / "output");
      child.ends_with(some_left_out);
      child.watch("begun", begun(out));
      finished = !kills.strike(child, died);
      if (finished) continue;
      ++died;
      if (child.told("begun") != 0 && !begun(out)(0)) kills.had_finished();
    }
    INFO("after " << died << " kills, variant " << run % 2);
    REQUIRE(first_difference(files_of(out), expected[run % 2]) == "");
    kills.run_completed();
  }
  kills.check();
}

}  // namespace

TEST_CASE("a tile that is killed again and again ends with the same keys and values") {
  const TempFolder folder;
  for (const char* name : {"a.svs", "b.svs"})
    write_slide(folder / name, {.width = columns * 32, .height = rows * 32, .tile_width = 32, .tile_height = 32});
  kill_tool("tool: penstock tile, copied and encoded", folder, 2 * columns * rows,
            [&](const std::string& store, std::uint64_t variant, std::uint64_t threads) {
              std::vector<std::string> words{
                  path_of("tool"), "tile", folder / "a.svs", folder / "b.svs",  "--out",     store,
                  "--size",        "32",   "--quiet",        "--no-thumbnails", "--threads", std::to_string(threads)};
              if (variant == 1) words.insert(words.end(), {"--edges", "pad", "--overlap", "8"});
              return words;
            });
}

TEST_CASE("a tile into shards that is killed again and again ends with the same bytes") { kill_tile(".tar"); }
TEST_CASE("a tile into HDF5 that is killed again and again ends with the same bytes") { kill_tile(".h5"); }
TEST_CASE("a tile into a folder that is killed again and again ends with the same bytes") { kill_tile("/"); }
