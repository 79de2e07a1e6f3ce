// SPDX-License-Identifier: Apache-2.0
// The power is cut after any call of a run: what of the disk may be left then is gone on with, or refused, and never
// taken for more than it is.
#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <penstock/extend/store_files.hpp>
#include <penstock/penstock.hpp>

#include "calls_library.hpp"
#include "power_cut.hpp"
#include "recorded_calls.hpp"
#include "sources/temp_folder.hpp"
#include "store_jobs.hpp"
#include "support/catch.hpp"
#include "support/share.hpp"
#include "support/text_in.hpp"

using namespace penstock_test;

namespace {

struct StateRecords {
  static std::uint64_t size() { return 64; }
  static penstock::Schema schema() { return {{"number", penstock::DType::i64, {}}}; }
  static std::string name() { return "numbers"; }
  static void read(std::uint64_t i, penstock::SampleBuilder& out) {
    out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i));
  }
};

struct CutArea {
  CutArea() { std::filesystem::create_directory(folder.path() / "area"); }
  std::string area() const { return folder / "area"; }
  std::string store() const { return folder / "area/store"; }
  TempFolder folder;
  // What `act` did, in a process of its own.
  std::vector<RecordedCall> record(const std::function<std::string()>& act) const {
    const ChildEnd end = run_child([&] {
      penstock_calls_begin(area().c_str(), (folder / "calls").c_str(), 0, 0, nullptr);
      penstock_calls_keep_data((folder / "data").c_str());
      const std::string said = act();
      penstock_calls_end();
      return said;
    });
    INFO(end.said);
    REQUIRE(end.well());
    return calls_in(folder / "calls");
  }
  RecordedDisk disk() const { return {area(), text_in(folder / "data")}; }
};

// All syncs are passed over.
ChildEnd run_again(const StoreJob& job, const CutArea& area, const HowToWrite& how) {
  return run_child([&] {
    penstock_calls_begin(area.area().c_str(), nullptr, 0, 0, nullptr);
    return std::to_string(job.write(area.store(), how));
  });
}

// A lock that comes back harms nobody.
std::vector<std::string> names_without_locks(const std::string& folder) {
  std::vector<std::string> names = names_in(folder);
  std::erase_if(names, [](const std::string& name) { return name.ends_with(".lock"); });
  return names;
}

// Each state of a disk once, or a share of them.
void check_power_cuts(const std::string& kind) {
  const StoreJob job = *std::ranges::find(store_jobs(), kind, &StoreJob::name);
  const CutArea area;
  const HowToWrite how{.sync = true, .commit_every = 13};
  const std::vector<RecordedCall> calls = area.record([&] { return std::to_string(job.write(area.store(), how)); });
  const std::string content = job.content(area.store());
  const std::vector<std::string> names = names_without_locks(area.store());
  RecordedDisk disk = area.disk();
  Share share("power " + kind);
  std::set<RecordedDisk::Tree> seen;
  unsigned long cuts = 0, finished = 0;
  for (const RecordedCall& call : calls) {
    if (!disk.take(call)) continue;
    for (const Left& left : all_left) {
      const RecordedDisk::Tree tree = disk.after_power_cut(left);
      if (!seen.insert(tree).second || !share.has_next()) continue;
      ++cuts;
      disk.put_back(tree);
      CAPTURE(kind, call.number, call.name, call.path, left.words);
      const ChildEnd look = run_child([&] {
        try {
          return std::string(job.content(area.store()) == content ? "finished" : "wrong");
        } catch (const std::exception&) {
          return std::string("none");
        }
      });
      CHECK(look.well());
      if (!job.cache && !job.shared) CHECK(look.said != "wrong");
      finished += look.said == "finished" ? 1 : 0;
      ChildEnd again = run_again(job, area, how);
      if (job.cache) again = run_again(job, area, how);
      CAPTURE(again.said);
      CHECK(again.well());
      CHECK(job.content(area.store()) == content);
      CHECK(names_without_locks(area.store()) == names);
    }
  }
  // A run that has ended lasts.
  for (const Left& left : all_left) {
    disk.put_back(disk.after_power_cut(left));
    CAPTURE(kind, left.words);
    if (job.cache) continue;  // which promises only that what is there is right
    CHECK(job.content(area.store()) == content);
  }
  CHECK(cuts > 5);
  WARN(kind << ": " << calls.size() << " calls, " << cuts << " cuts, " << finished << " of them after its end, "
            << share.words());
}

penstock::Loader state_loader() {
  return penstock::Loader(penstock::from(StateRecords()) | penstock::batch(4), {.threads = 1});
}

std::string save_twice(const std::string& file) {
  auto running = state_loader();
  for (int save = 0; save < 2; ++save) {
    running.next();
    running.save(file);
  }
  return std::to_string(penstock::unsynced_folders().size());
}

}  // namespace

TEST_CASE("a power cut at any call does not spoil a store of LMDB") { check_power_cuts("lmdb"); }
TEST_CASE("a power cut at any call does not spoil a store of raw values") { check_power_cuts("lmdb raw"); }
TEST_CASE("a power cut at any call does not spoil tar shards") { check_power_cuts("webdataset"); }
TEST_CASE("a power cut at any call does not spoil shards of HDF5") { check_power_cuts("hdf5"); }
TEST_CASE("a power cut at any call does not spoil an HDF5 file") { check_power_cuts("hdf5 file"); }
TEST_CASE("a power cut at any call does not spoil a folder of files") { check_power_cuts("files"); }
TEST_CASE("a power cut at any call does not spoil features") { check_power_cuts("features"); }
TEST_CASE("a power cut at any call does not spoil a cache") { check_power_cuts("cache"); }

TEST_CASE("a power cut at any call leaves a loader's last state or the one before") {
  const CutArea area;
  const std::string file = area.area() + "/run.state";
  const std::vector<RecordedCall> calls = area.record([&] { return save_twice(file); });
  const std::string second = text_in(file);
  std::vector<std::size_t> renames;
  for (const RecordedCall& call : calls)
    if (call.name == "rename") renames.push_back(call.number);
  REQUIRE(renames.size() == 2);
  constexpr std::size_t sync_of_folder = 2;  // its open and its fsync
  RecordedDisk disk = area.disk();
  std::string first;
  for (const RecordedCall& call : calls) {
    disk.take(call);
    for (const Left& left : all_left) {
      disk.put_back(disk.after_power_cut(left));
      CAPTURE(call.number, call.name, left.words);
      if (!std::filesystem::exists(file)) {
        CHECK(call.number < renames[0] + sync_of_folder);
        continue;
      }
      if (first.empty()) first = text_in(file);
      const std::string there = text_in(file);
      CHECK((there == first || there == second));
      CHECK((there == second || call.number < renames[1] + sync_of_folder));
      CHECK_NOTHROW(penstock::load_state(file));
    }
  }
  CHECK(first != second);
  WARN("state: " << calls.size() << " calls, " << calls.size() * all_left.size() << " cuts, every one");
}

TEST_CASE("a loader whose state can't be saved says so and one whose folder can't be synced goes on") {
  const CutArea area;
  const std::string file = area.area() + "/run.state";
  const std::vector<RecordedCall> calls = area.record([&] { return save_twice(file); });
  const auto with_fault = [&](unsigned long at, int code, const char* name) {
    std::filesystem::remove(file);
    return run_child([&] {
      penstock_calls_begin(area.area().c_str(), nullptr, at, code, name);
      return save_twice(file);
    });
  };
  std::size_t told = 0;
  for (const RecordedCall& call : calls_that_matter(calls)) {
    const ChildEnd end = with_fault(call.number, ENOSPC, nullptr);
    CAPTURE(call.number, call.name, end.said);
    CHECK_FALSE(end.well());
    CHECK(end.said.starts_with("io"));
    CHECK(names_in(area.area()).size() <= 1);  // nothing half is left
    ++told;
  }
  CHECK(told == 2 * 5);  // write, sync, close, rename, and the folder's sync
  const ChildEnd end = with_fault(0, EINVAL, "fsync folder");
  CHECK(end.well());
  CHECK(end.said == "1");
  CHECK_NOTHROW(penstock::load_state(file));
}
