// SPDX-License-Identifier: Apache-2.0
// penstock tile, index and pack where a write, sync, rename or other call fails, is the last, or the power is cut.
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
#include <set>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "cli/tool.hpp"
#include "sources/slide/slide_files.hpp"
#include "stores/calls_library.hpp"
#include "stores/power_cut.hpp"
#include "stores/recorded_calls.hpp"
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
    // An index asks for it again each time, and has it twice then.
    if (kind != "index") folder.write("slides/c.svs", "no slide");
    if (kind == "pack") write_images(folder, 2, 12);
    begin_anew();
  }
  int status() const { return kind == "pack" || kind == "index" ? 0 : some_left_out; }
  std::string area() const { return folder / "area"; }
  std::string log() const { return folder / "calls"; }
  std::string data() const { return folder / "data"; }
  void begin_anew() const {
    fs::remove_all(area());
    fs::create_directory(area());
  }
  std::vector<std::string> words(const std::vector<std::string>& more) const {
    if (kind == "index")
      return {"index", folder / "slides", "--out", area() + "/slides.tiles", "--size", "32", "--threads", "1"};
    if (kind == "pack") return {"pack", folder / "images", "--out", area() + "/packed.lmdb", "--threads", "1"};
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
  ToolResult run_with(unsigned long fail_at, int code, const std::vector<std::string>& more = {},
                      bool keep_data = false, const char* name = nullptr) const {
    if (name != nullptr) ::setenv("PENSTOCK_CALLS_NAME", name, 1);
    if (keep_data) ::setenv("PENSTOCK_CALLS_DATA", data().c_str(), 1);
    ::setenv("PENSTOCK_CALLS_FOLDER", area().c_str(), 1);
    ::setenv("PENSTOCK_CALLS_LOG", log().c_str(), 1);
    ::setenv("PENSTOCK_CALLS_FAIL_AT", std::to_string(fail_at).c_str(), 1);
    ::setenv("PENSTOCK_CALLS_CODE", std::to_string(code).c_str(), 1);
    ::setenv("LD_PRELOAD", path_of("calls").c_str(), 1);
    ToolResult result = run(more);
    for (const char* const name :
         {"LD_PRELOAD", "PENSTOCK_CALLS_FOLDER", "PENSTOCK_CALLS_LOG", "PENSTOCK_CALLS_FAIL_AT", "PENSTOCK_CALLS_CODE",
          "PENSTOCK_CALLS_DATA", "PENSTOCK_CALLS_NAME"})
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

// The power is cut after each call. What may be left of the disk then is gone on with as an undisturbed run would be.
// Once the run has ended nothing of it may be lost.
void check_power_cuts(const std::string& kind) {
  const Job job(kind);
  const ToolResult undisturbed = job.run_with(0, 0, {}, true);
  CAPTURE(kind, undisturbed.err);
  REQUIRE(undisturbed.status == job.status());
  const auto expected = files_of(job);
  const std::vector<RecordedCall> calls = calls_in(job.log());
  REQUIRE(calls.size() > 10);
  RecordedDisk disk(job.area(), text_in(job.data()));
  Share share("power " + kind), of_many("power " + kind + ", many");
  std::set<RecordedDisk::Tree> seen;
  unsigned long cuts = 0;
  for (const RecordedCall& call : calls) {
    if (!disk.take(call)) continue;
    for (const Left& left : all_left) {
      const RecordedDisk::Tree tree = disk.after_power_cut(left);
      if (!seen.insert(tree).second) continue;
      // Of long runs a share of a share.
      if (calls.size() > 40 && !share.has_next()) continue;
      if (calls.size() > 100 && !of_many.has_next()) continue;
      ++cuts;
      disk.put_back(tree);
      const ToolResult again = job.run_with(0, 0);
      CAPTURE(call.number, call.name, call.path, left.words, again.out, again.err);
      CHECK(again.status == job.status());
      CHECK(first_difference(expected, files_of(job)) == "");
    }
  }
  for (const Left& left : all_left) {
    disk.put_back(disk.after_power_cut(left));
    CAPTURE(left.words);
    CHECK(first_difference(expected, files_of(job)) == "");
  }
  CHECK(cuts > 2);
  WARN(kind << ": " << calls.size() << " calls, " << cuts << " cuts of the power, " << share.words());
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

TEST_CASE("a power cut at any call of a tile into LMDB and lists is gone on with") { check_power_cuts("lmdb"); }
TEST_CASE("a power cut at any call of a tile into shards is gone on with") { check_power_cuts("tar"); }
TEST_CASE("a power cut at any call of a tile into HDF5 is gone on with") { check_power_cuts("h5"); }
TEST_CASE("a power cut at any call of a tile into a folder is gone on with") { check_power_cuts("folder"); }
TEST_CASE("a power cut at any call of lists of tiles is gone on with") { check_power_cuts("coords"); }
TEST_CASE("a power cut at any call of an index is gone on with") { check_power_cuts("index"); }
TEST_CASE("a power cut at any call of a pack is gone on with") { check_power_cuts("pack"); }

TEST_CASE("a close of a file that was written is told where it fails") {
  Share share("closes");
  for (const std::string kind : {"lmdb", "tar", "h5", "folder", "index", "pack"}) {
    const Job job(kind);
    REQUIRE(job.run_with(0, 0, {"--no-sync"}).status == job.status());
    std::size_t closes = 0;
    for (const RecordedCall& call : calls_that_matter(calls_in(job.log()))) {
      const bool one_of_many =
          call.path.find("/.unfinished/") != std::string::npos || call.path.find("-report/") != std::string::npos;
      if (call.name != "close" || (one_of_many && !share.has_next())) continue;
      job.begin_anew();
      const ToolResult end = job.run_with(call.number, EDQUOT, {"--no-sync"});
      CAPTURE(kind, call.number, call.path, end.out, end.err);
      CHECK(end.status == 1);
      CHECK(one_line(end.err));
      CHECK(end.err.find(std::strerror(EDQUOT)) != std::string::npos);
      ++closes;
    }
    CAPTURE(kind);
    CHECK(closes >= 1);
  }
}

TEST_CASE("folders that a file system does not sync are told of, and no error") {
  for (const std::string kind : {"lmdb", "tar", "h5", "folder", "coords", "index", "pack"}) {
    const Job job(kind);
    const ToolResult end = job.run_with(0, EINVAL, {}, false, "fsync folder");
    CAPTURE(kind, end.err);
    CHECK(end.status == job.status());
    CHECK(end.err.find("does not sync folders: a power cut may take the names") != std::string::npos);
  }
}
