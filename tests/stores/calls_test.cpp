// SPDX-License-Identifier: Apache-2.0
// In which order files are written, synced and named, and what becomes of a store where a call fails.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <penstock/extend/store_files.hpp>

#include "calls_library.hpp"
#include "recorded_calls.hpp"
#include "sources/temp_folder.hpp"
#include "store_jobs.hpp"
#include "support/catch.hpp"
#include "support/share.hpp"
#ifdef PENSTOCK_TEST_TILES
#include "sources/slide/slide_files.hpp"
#include "tiles_job.hpp"
#endif

using namespace penstock_test;

namespace {

struct Fault {
  unsigned long at = 0;
  int code = 0;
  const char* name = nullptr;
};

// The store is below a folder whose calls are noted, as it is made itself.
struct Area {
  Area() { std::filesystem::create_directory(folder.path() / "area"); }
  std::string area() const { return folder / "area"; }
  std::string store() const { return folder / "area/store"; }
  std::string log() const { return folder / "calls"; }
  void clear() const { std::filesystem::remove_all(store()); }
  TempFolder folder;
};

ChildEnd write_in_child(const StoreJob& job, const Area& area, const HowToWrite& how, const Fault& fault,
                        bool logged = false) {
  return run_child([&] {
    penstock_calls_begin(area.area().c_str(), logged ? area.log().c_str() : nullptr, fault.at, fault.code, fault.name);
    job.write(area.store(), how);
    return std::to_string(penstock_calls_end());
  });
}

void require(bool fine, const std::string& what) {
  if (!fine) throw std::runtime_error(what);
}

// The libraries of others have the last word in what they do with LMDB's files.
bool may_be_interrupted(const StoreJob& job) {
  return job.name.starts_with("lmdb") || job.name == "tiles" || job.cache;
}

std::string words_of(int code) {
  return code == short_write ? "half of a write" : code == killed ? "killed" : std::strerror(code);
}

// One call of a run fails, or is its last. The run ends with an error or well, or is killed; no store looks finished
// that is not; and another run makes of it what an undisturbed one makes.
void check_fault(const StoreJob& job, const Area& area, const HowToWrite& how, const Fault& fault,
                 const std::string& content, const std::vector<std::string>& names) {
  const std::string where = job.name + ", call " + (fault.name != nullptr ? fault.name : std::to_string(fault.at)) +
                            ", " + words_of(fault.code) + ": ";
  const ChildEnd end = write_in_child(job, area, how, fault);
  if (end.signal != SIGKILL || fault.code != killed)
    require(end.signal == 0, where + "signal " + std::to_string(end.signal));
  if (!end.well() && end.signal == 0) require(end.said.starts_with("io"), where + end.said);
  if (!end.well() && end.signal == 0 && (fault.code == EINTR || fault.code == short_write))
    require(may_be_interrupted(job), where + "not gone on with: " + end.said);
  const ChildEnd look = run_child([&] {
    std::string there;
    try {
      there = job.content(area.store());
    } catch (const std::exception&) {
      return std::string("none");
    }
    require(there == content, "a store that looks finished and is not");
    return std::string("finished");
  });
  require(look.well(), where + look.said);
  if (end.well() && !job.cache) require(look.said == "finished", where + "it ended well, and is not finished");
  for (int run = 0; run < (job.cache ? 2 : 1); ++run) {  // a cache keeps the rest in the next run
    const ChildEnd again = write_in_child(job, area, how, {});
    require(again.well(), where + "run again: " + again.said);
  }
  require(job.content(area.store()) == content, where + "run again, it holds something else");
  std::string other;
  std::size_t same = 0;
  for (const std::string& name : names_in(area.store()))
    if (std::ranges::find(names, name) != names.end())
      ++same;
    else if (!name.ends_with(".lock"))  // where removing it failed; it harms nobody
      other += " " + name;
  require(other.empty() && same == names.size(), where + "run again, it has other files:" + other);
  area.clear();
}

}  // namespace

TEST_CASE("data is synced before a mark or name tells of it and names after that") {
  for (const StoreJob& job : chosen_jobs())
    for (const bool sync : {true, false}) {
      if (!sync && (job.shared || job.cache)) continue;  // which promise nothing then
      for (const std::uint64_t commit_every : {3u, 10u, 1000u}) {
        const Area area;
        const ChildEnd end = write_in_child(job, area, {.sync = sync, .commit_every = commit_every}, {}, true);
        INFO(job.name << (sync ? ", sync, " : ", ") << commit_every << " a commit: " << end.said);
        REQUIRE(end.well());
        const std::vector<RecordedCall> calls = calls_in(area.log());
        CHECK(calls.size() > 10);
        CHECK(first_that_would_not_last(calls, sync) == "");
      }
    }
}

TEST_CASE("nothing of a store is looked at or changed without its lock") {
  for (const StoreJob& job : chosen_jobs()) {
    const Area area;
    const std::string store = area.store();
    const auto lock_of = [&](const std::string& path) -> std::string {
      if (job.name == "lmdb" || job.name == "tiles") return store + "/store/data.mdb";
      if (job.name == "lmdb raw") return store + "/store.lmdb";
      if (job.name == "webdataset") return store + "/part.tar-unfinished.json.lock";
      if (job.name == "hdf5") return store + "/part.h5-unfinished.json.lock";
      if (job.name == "hdf5 file") return store + "/whole.h5-unfinished.json.lock";
      if (job.name == "files") return store + "/out/records.csv-unfinished.json.lock";
      if (job.cache) return store + "/cache/data.mdb";
      return path.ends_with(".partial") ? path + ".lock" : store + "/out/metadata.csv.lock";
    };
    for (int run = 0; run < 2; ++run) {  // of nothing, and of a finished store
      const ChildEnd end = write_in_child(job, area, {}, {}, true);
      INFO(job.name << ", run " << run << ": " << end.said);
      REQUIRE(end.well());
      std::vector<RecordedCall> calls = calls_in(area.log());
      // Shards and files that are finished change no more.
      const bool shards = job.name == "webdataset" || job.name.starts_with("hdf5") || job.name == "files";
      if (run == 1 && (shards || job.shared)) calls.resize(3);
      CHECK(first_without_its_lock(calls, lock_of) == "");
    }
  }
}

namespace {

// All faults: each call fails in each way, synced and not. Else each in one of them, each write is short, and each call
// is the last one of a killed process; a share of these is tried.
void check_faults(const std::string& kind) {
  const bool all = all_faults();
  Share share(kind);
  constexpr int errors[] = {EIO, ENOSPC, EINTR};
  constexpr int codes[] = {EIO, ENOSPC, EINTR, short_write, killed};
  const StoreJob job = *std::ranges::find(store_jobs(), kind, &StoreJob::name);
  for (const bool sync : {true, false}) {
    if (!all && !sync) continue;
    const Area area;
    const HowToWrite how{.sync = sync, .commit_every = 13};
    const ChildEnd whole = write_in_child(job, area, how, {});
    REQUIRE(whole.well());
    const unsigned long calls = std::stoul(whole.said) + (job.cache ? 10 : 0);
    const std::string content = job.content(area.store());
    const std::vector<std::string> names = names_in(area.store());
    area.clear();
    unsigned long faults = 0;
    for (unsigned long at = 1; at <= calls; ++at)
      for (const int code : codes) {
        if (!all && code != errors[at % std::size(errors)] && code != short_write && code != killed) continue;
        if (!share.has_next()) continue;
        check_fault(job, area, how, {at, code}, content, names);
        ++faults;
      }
    CHECK(faults >= 5);
    WARN(job.name << (sync ? ", synced: " : ": ") << calls << " calls, " << faults << " faults, " << share.words());
  }
}

}  // namespace

TEST_CASE("whichever call fails a store of LMDB is not spoiled") { check_faults("lmdb"); }
TEST_CASE("whichever call fails a store of raw values is not spoiled") { check_faults("lmdb raw"); }
TEST_CASE("whichever call fails tar shards are not spoiled") { check_faults("webdataset"); }
TEST_CASE("whichever call fails shards of HDF5 are not spoiled") { check_faults("hdf5"); }
TEST_CASE("whichever call fails an HDF5 file is not spoiled") { check_faults("hdf5 file"); }
TEST_CASE("whichever call fails a folder of files is not spoiled") { check_faults("files"); }
TEST_CASE("whichever call fails features are not spoiled") { check_faults("features"); }
#ifdef PENSTOCK_TEST_TILES
TEST_CASE("whichever call fails the tiles of a slide are not spoiled") { check_faults("tiles"); }
#endif
TEST_CASE("whichever call fails a cache is not spoiled") { check_faults("cache"); }

TEST_CASE("a write, sync, close or rename that fails is told") {
  Share share("told");
  for (const StoreJob& job : chosen_jobs()) {
    if (job.cache) continue;  // which does without
    std::map<std::string, int> told;
    for (const bool sync : {true, false}) {
      const HowToWrite how{.sync = sync, .commit_every = 13};
      const Area area;
      REQUIRE(write_in_child(job, area, how, {}, true).well());
      for (const RecordedCall& call : calls_that_matter(calls_in(area.log()))) {
        const bool one_of_many = call.name != "close" || call.path.find("/.unfinished/") != std::string::npos;
        if (one_of_many && !share.has_next()) continue;
        area.clear();
        const ChildEnd end = write_in_child(job, area, how, {.at = call.number, .code = EDQUOT});
        CAPTURE(job.name, sync, call.number, call.name, call.path, end.said);
        CHECK(end.signal == 0);
        CHECK_FALSE(end.well());
        CHECK(end.said.starts_with("io"));
        CHECK(end.said.find(std::strerror(EDQUOT)) != std::string::npos);
        ++told[call.name];
      }
    }
    CAPTURE(job.name);
    if (!job.name.starts_with("lmdb") && job.name != "tiles") CHECK(told["close"] > 2);
    CHECK(told.size() > 2);
  }
}

TEST_CASE("a file system that syncs no folders is written to all the same and is told of") {
  for (const int code : {EINVAL, ENOTSUP, ENOSYS, EIO})
    for (const StoreJob& job : chosen_jobs()) {
      const Area area;
      const ChildEnd end = run_child([&] {
        penstock_calls_begin(area.area().c_str(), nullptr, 0, code, "fsync folder");
        job.write(area.store(), {});
        penstock_calls_end();
        return std::to_string(penstock::unsynced_folders().size());
      });
      CAPTURE(job.name, code, end.said);
      CHECK(end.signal == 0);
      CHECK(end.well() == (code != EIO));
      if (code == EIO) continue;
      CHECK(std::stoul(end.said) > 0);
      CHECK_NOTHROW(job.content(area.store()));
    }
}

TEST_CASE("files that were not committed are gone for good before the table forgets them") {
  const StoreJob job = *std::ranges::find(store_jobs(), "files", &StoreJob::name);
  const HowToWrite how{.sync = true, .commit_every = 13};
  const Area area;
  const unsigned long calls = std::stoul(write_in_child(job, area, how, {}).said);
  area.clear();
  Share share("files taken back");
  std::size_t removals = 0;
  for (unsigned long at = 1; at <= calls; ++at) {
    if (!share.has_next()) continue;
    write_in_child(job, area, how, {.at = at, .code = killed});
    const ChildEnd again = write_in_child(job, area, how, {}, true);
    INFO("killed at call " << at << ": " << again.said);
    REQUIRE(again.well());
    const std::vector<RecordedCall> then = calls_in(area.log());
    CHECK(first_that_would_not_last(then, true) == "");
    removals += static_cast<std::size_t>(std::ranges::count_if(then, [&](const RecordedCall& call) {
      return call.name == "unlink" && call.path.ends_with(".bin") && call.failed == 0;
    }));
    area.clear();
  }
  CHECK(removals > 40);
}

TEST_CASE("a run that takes away what a killed one has left may be killed as well") {
  const StoreJob job = *std::ranges::find(store_jobs(), "files", &StoreJob::name);
  const HowToWrite how{.sync = true, .commit_every = 13};
  const Area area;
  REQUIRE(write_in_child(job, area, how, {}, true).well());
  const std::string content = job.content(area.store());
  const std::vector<std::string> names = names_in(area.store());
  std::vector<unsigned long> renames;  // of files that get their names
  for (const RecordedCall& call : calls_in(area.log()))
    if (call.name == "rename" && call.second.ends_with(".bin")) renames.push_back(call.number);
  area.clear();
  constexpr std::size_t in_second_commit = 18;
  REQUIRE(renames.size() > in_second_commit);
  unsigned long kills = 0;
  for (bool killed_again = true; killed_again; ++kills) {
    REQUIRE(write_in_child(job, area, how, {.at = renames[in_second_commit], .code = killed}).signal == SIGKILL);
    killed_again = write_in_child(job, area, how, {.at = kills + 1, .code = killed}).signal == SIGKILL;
    const ChildEnd end = write_in_child(job, area, how, {});
    INFO("killed at call " << kills + 1 << " of the second run: " << end.said);
    REQUIRE(end.well());
    REQUIRE(job.content(area.store()) == content);
    REQUIRE(names_in(area.store()) == names);
    area.clear();
  }
  CHECK(kills > 100);
}

#ifdef PENSTOCK_TEST_TILES
TEST_CASE("a finished job over slides that runs again reads what is bad alone") {
  for (const std::int32_t overlap : {0, 8}) {
    const Area area;
    constexpr std::int32_t columns = 8;
    const WrittenSlide slide = write_slide(
        area.area() + "/slide.svs", {.width = columns * 32, .height = 5 * 32, .tile_width = 32, .tile_height = 32});
    constexpr std::uint64_t bad = 2 * columns + 4, empty = columns - 1;
    slide.overwrite(slide.offsets[bad], Bytes(slide.sizes[bad], std::byte{0x33}));
    slide.set_size(empty, 0);
    // A place that reaches into a bad tile reads its neighbours too.
    const auto is_near = [&](std::uint64_t tile, std::uint64_t other) {
      const auto far = [](std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; };
      const std::uint64_t reach = overlap == 0 ? 0 : 1;
      return far(tile % columns, other % columns) <= reach && far(tile / columns, other / columns) <= reach;
    };
    std::string dropped;
    for (const bool again : {false, true}) {
      const ChildEnd end = run_child([&] {
        penstock_calls_begin(area.area().c_str(), area.log().c_str(), 0, 0, nullptr);
        return std::to_string(cut(slide.path, area.store(), overlap, {}));
      });
      CAPTURE(overlap, again, end.said);
      REQUIRE(end.well());
      if (!again) dropped = end.said;
      CHECK(end.said == dropped);
      std::set<std::uint64_t> read;
      for (const RecordedCall& call : calls_in(area.log()))
        for (std::uint64_t tile = 0; tile < slide.offsets.size(); ++tile)
          if (call.name == "pread" && call.path == slide.path &&
              static_cast<std::uint64_t>(call.offset) == slide.offsets[tile])
            read.insert(tile);
      CHECK(read.contains(bad));
      if (!again) CHECK(read.size() == slide.offsets.size() - 1);
      // Whoever opens the slide looks at its first tile.
      for (const std::uint64_t tile : read)
        if (again && tile != 0) CHECK((is_near(tile, bad) || is_near(tile, empty)));
    }
    CHECK(std::stoul(dropped) >= 2);
  }
}
#endif

TEST_CASE("a file system that can't keep room for a lock file is written to all the same") {
  for (const StoreJob& job : chosen_jobs()) {
    const Area area;
    REQUIRE(write_in_child(job, area, {}, {}).well());
    const std::string content = job.content(area.store());
    const std::vector<std::string> names = names_in(area.store());
    area.clear();
    check_fault(job, area, {}, {.code = EOPNOTSUPP, .name = "fallocate"}, content, names);
  }
}
