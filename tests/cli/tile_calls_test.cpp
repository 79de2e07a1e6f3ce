// penstock tile where one of its writes, syncs, renames or other calls fails, or is its last.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "stores/calls_library.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/share.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t columns = 8, rows = 5;
constexpr int some_left_out = 3;  // the exit status

// 40 tiles, one of them damaged, beside a file that is no slide. What is written goes into a folder of its own.
struct Job {
  TempFolder folder;
  std::string kind;
  explicit Job(std::string of) : kind(std::move(of)) {
    fs::create_directory(folder / "slides");
    const WrittenSlide slide = write_slide(
        folder / "slides/a.svs", {.width = columns * 32, .height = rows * 32, .tile_width = 32, .tile_height = 32});
    slide.set_size(13, 0);
    folder.write("slides/c.svs", "no slide");
    begin_anew();
  }
  std::string area() const { return folder / "area"; }
  std::string log() const { return folder / "calls"; }
  void begin_anew() const {
    fs::remove_all(area());
    fs::create_directory(area());
  }
  std::vector<std::string> words(const std::vector<std::string>& more) const {
    std::vector<std::string> all{"tile", folder / "slides", "--size", "32", "--threads", "1"};
    const std::string out = area() + "/tiles" + (kind == "folder" ? "" : "." + kind);
    // Lists may lie in the report's folder, which is there before its manifest is.
    if (kind != "coords") all.insert(all.end(), {"--out", out});
    if (kind == "coords" || kind == "lmdb") all.insert(all.end(), {"--coords", out + "-report/lists"});
    if (kind == "folder") all.insert(all.end(), {"--form", "folder"});
    if (kind == "tar") all.insert(all.end(), {"--shard-samples", "15"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  ToolResult run(const std::vector<std::string>& more = {}) const { return tool(words(more)); }
  ToolResult run_with(unsigned long fail_at, int code, const std::vector<std::string>& more = {}) const {
    ::setenv("PENSTOCK_CALLS_FOLDER", area().c_str(), 1);
    ::setenv("PENSTOCK_CALLS_LOG", log().c_str(), 1);
    ::setenv("PENSTOCK_CALLS_FAIL_AT", std::to_string(fail_at).c_str(), 1);
    ::setenv("PENSTOCK_CALLS_CODE", std::to_string(code).c_str(), 1);
    ::setenv("LD_PRELOAD", path_of("calls").c_str(), 1);
    ToolResult result = run(more);
    for (const char* const name :
         {"LD_PRELOAD", "PENSTOCK_CALLS_FOLDER", "PENSTOCK_CALLS_LOG", "PENSTOCK_CALLS_FAIL_AT", "PENSTOCK_CALLS_CODE"})
      ::unsetenv(name);
    return result;
  }
};

// What may differ between two runs of the same job: how long they took.
std::string timeless(const std::string& json) {
  const auto run = Json::parse(json);
  if (!run["result"].is_object()) return run.dump();
  return run.without("/result/seconds").without("/result/bytes").dump();
}

// Each file of a job by its name; of an LMDB its keys and values.
std::map<std::string, std::string> files_of(const Job& job) {
  std::map<std::string, std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(job.area())) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().lexically_relative(job.area()).string();
    if (name.ends_with("lock.mdb") || name.ends_with(".lock") || name.ends_with("index.html")) continue;
    if (name.ends_with("data.mdb")) {
      for (const auto& [key, value] : content(entry.path().parent_path())) files[name + " " + key] = value;
    } else {
      const std::string text = text_in(entry.path().string());
      files[name] = name.ends_with("run.json") ? timeless(text) : text;
    }
  }
  return files;
}

std::string first_difference(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b) {
  for (const auto& [name, text] : a)
    if (!b.contains(name)) return name + " is there in one only";
  for (const auto& [name, text] : b)
    if (!a.contains(name) || a.at(name) != text) return name;
  return {};
}

// All faults: each call fails in each way, and is the last of a killed run. Else one of these; a share of them is
// tried.
void check_faults(const std::string& kind) {
  constexpr int codes[] = {killed, EIO, ENOSPC, EINTR, short_write};
  const bool all = all_faults();
  Share share(kind);
  const Job job(kind);
  REQUIRE(job.run_with(0, 0).status == some_left_out);
  std::ifstream log(job.log());
  const auto calls = static_cast<unsigned long>(std::count(std::istreambuf_iterator<char>(log), {}, '\n'));
  const auto expected = files_of(job);
  REQUIRE(calls > 20);
  unsigned long faults = 0, ended_well = 0;
  for (unsigned long at = 1; at <= calls; ++at)
    for (const int code : codes) {
      if (!all && code != (at % 2 == 1 ? killed : codes[1 + at / 2 % 4])) continue;
      if (!share.has_next()) continue;
      ++faults;
      job.begin_anew();
      const ToolResult faulty = job.run_with(at, code);
      CAPTURE(kind, at, code, faulty.status, faulty.err);
      if (code == killed) {
        REQUIRE((faulty.status == 128 + SIGKILL || at + 3 > calls));
      } else if (faulty.status == some_left_out) {
        REQUIRE(first_difference(expected, files_of(job)) == "");
        ++ended_well;
      } else {
        REQUIRE(faulty.status == 1);
        REQUIRE(one_line(faulty.err));
      }
      const ToolResult again = job.run();
      CAPTURE(again.err);
      REQUIRE(again.status == some_left_out);
      REQUIRE(first_difference(expected, files_of(job)) == "");
    }
  CHECK(faults >= 5);
  WARN(kind << ": " << calls << " calls, " << faults << " faults, " << ended_well << " of them passed over, "
            << share.words());
}

}  // namespace

TEST_CASE("asking again for a slide that could not be opened may be killed at any call") {
  Job job("lmdb");
  const std::string slides = job.folder / "slides", kept = job.folder / "kept";
  fs::remove(slides + "/c.svs");
  // More than are committed at once.
  write_slide(job.folder / "good.svs", {.width = 32 * 40, .height = 32 * 30, .tile_width = 32, .tile_height = 32});
  fs::rename(job.folder / "good.svs", slides + "/b.svs");
  REQUIRE(job.run().status == some_left_out);
  const auto whole = content(job.area() + "/tiles.lmdb");
  job.begin_anew();
  fs::rename(slides + "/b.svs", job.folder / "good.svs");
  job.folder.write("slides/b.svs", "no slide");
  REQUIRE(job.run().status == some_left_out);
  fs::remove(slides + "/b.svs");
  fs::rename(job.folder / "good.svs", slides + "/b.svs");
  fs::copy(job.area(), kept, fs::copy_options::recursive);
  Share share("asked again");
  unsigned long in_the_middle = 0;
  for (unsigned long at = 1;; ++at) {
    if (!share.has_next()) continue;
    fs::remove_all(job.area());
    fs::copy(kept, job.area(), fs::copy_options::recursive);
    const ToolResult asked = job.run_with(at, killed, {"--retry"});
    if (asked.status != 128 + SIGKILL) break;
    const std::size_t there =
        penstock::LmdbSource({.path = job.area() + "/tiles.lmdb", .allow_unfinished = true}).size();
    const bool some = there > whole.size() - 40 * 30 && there < whole.size();
    in_the_middle += some ? 1 : 0;
    const ToolResult plain = job.run();
    CAPTURE(at, there, plain.err, plain.out);
    // Before anything is kept of it the slide is another one, which is refused.
    REQUIRE((plain.status == some_left_out || (!some && plain.status == 1)));
    if (some) REQUIRE(content(job.area() + "/tiles.lmdb") == whole);
    REQUIRE(job.run({"--retry"}).status == some_left_out);
    REQUIRE(content(job.area() + "/tiles.lmdb") == whole);
  }
  CHECK(in_the_middle > share.least_of(3));
}

TEST_CASE("whichever call of a tile into LMDB fails the next run ends as an undisturbed one") { check_faults("lmdb"); }
TEST_CASE("whichever call of a tile into shards fails the next run ends as an undisturbed one") { check_faults("tar"); }
TEST_CASE("whichever call of a tile into HDF5 fails the next run ends as an undisturbed one") { check_faults("h5"); }
TEST_CASE("whichever call of a tile into a folder fails the next run ends as an undisturbed one") {
  check_faults("folder");
}
TEST_CASE("whichever call of lists of tiles fails the next run ends as an undisturbed one") { check_faults("coords"); }
