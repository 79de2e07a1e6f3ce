// SPDX-License-Identifier: Apache-2.0
#include "recorded_calls.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace penstock_test {

namespace {

bool ends(const std::string& path, const char* with) { return path.ends_with(with); }

// What need not last: it says who is at work now.
bool is_lock(const std::string& path) {
  return ends(path, ".lock") || ends(path, "lock.mdb") || ends(path, "-lock") || ends(path, "/(temporary)");
}
bool is_mark(const std::string& path) { return ends(path, "unfinished.json") || ends(path, "-unfinished"); }
// A mark that says how far shards are.
bool is_progress(const std::string& path) { return ends(path, "-unfinished.json"); }
// Under a number, until it gets its name.
bool is_staged(const std::string& path) { return path.find("/.unfinished/") != std::string::npos; }
bool is_lmdb_data(const std::string& path) { return ends(path, "data.mdb") || ends(path, "store.lmdb"); }

// Which data and which names would be lost now.
class Disk {
 public:
  explicit Disk(bool sync) : sync_(sync) {}

  // What is wrong with the call; empty where nothing is.
  std::string take(const RecordedCall& call) {
    if (call.failed != 0) return {};
    if (call.name == "open" && call.flags.find("created") != std::string::npos) named(call.path);
    if (call.name == "linkat") named(call.second);
    if (call.name == "mkdir") {
      filled_.insert(call.path);
      named(call.path);
    }
    if (call.name == "fsync" || call.name == "fdatasync") {
      if (call.flags == "folder")
        unsynced_names_.erase(call.path);
      else
        unsynced_.erase(call.path);
    }
    if (call.name == "syncfs") {
      unsynced_.clear();
      unsynced_names_.clear();
    }
    if (call.name == "ftruncate" && sync_ && call.path.ends_with(".csv.partial"))
      for (const auto& [folder, names] : unsynced_names_)
        for (const std::string& name : names)
          if (removed_.contains(name)) return at(call, "forgets " + name + ", which may come back");
    if (call.name.find("write") != std::string::npos || call.name.find("truncate") != std::string::npos)
      return change(call);
    if (call.name == "unlink" || call.name == "rmdir") return remove(call);
    if (call.name == "rename") return rename(call);
    return {};
  }

  std::string at_the_end() const {
    if (const std::string what = unsynced({}); !what.empty()) return "at the end, before " + what;
    return {};
  }

 private:
  std::string change(const RecordedCall& call) {
    if (is_lock(call.path)) return {};
    filled_.insert(call.path);
    // LMDB's commit: one of its first two pages is written anew, and says where the tree is.
    constexpr std::int64_t first_pages = 8192;
    const bool commits = is_lmdb_data(call.path) && call.name == "pwrite" && call.offset < first_pages &&
                         call.bytes < static_cast<std::uint64_t>(first_pages);
    const bool synced = call.flags == "synced";
    if (commits && (sync_ || synced) && unsynced_.contains(call.path))
      return at(call, "commits pages before they are synced");
    if (commits && sync_ && !synced) return at(call, "commits without a sync");
    if (!synced) unsynced_.insert(call.path);
    return {};
  }

  std::string remove(const RecordedCall& call) {
    unsynced_.erase(call.path);
    filled_.erase(call.path);
    if (is_mark(call.path))
      if (const std::string what = unsynced(call.path); !what.empty()) return at(call, "looks finished before " + what);
    named(call.path);
    if (call.name == "unlink" && !is_staged(call.path)) removed_.insert(call.path);
    return {};
  }

  std::string rename(const RecordedCall& call) {
    if ((sync_ || call.path.ends_with(".partial")) && unsynced_.contains(call.path))
      return at(call, "names what is not synced");
    if (sync_ && is_staged(call.path) && !unsynced_.empty())
      return at(call, "names a file before " + *unsynced_.begin() + " is synced, which tells of it");
    if (is_progress(call.second) && sync_)
      if (const std::string what = unsynced(call.path); !what.empty()) return at(call, "tells of data before " + what);
    if (unsynced_.erase(call.path) != 0) unsynced_.insert(call.second);
    if (filled_.erase(call.path) != 0) filled_.insert(call.second);
    names_beside(call.path).erase(call.path);
    named(call.second);
    return {};
  }

  static std::string at(const RecordedCall& call, const std::string& what) {
    return "call " + std::to_string(call.number) + ", " + call.name + " " + call.path + ": " + what;
  }
  std::set<std::string>& names_beside(const std::string& path) {
    return unsynced_names_[std::filesystem::path(path).parent_path().string()];
  }
  void named(const std::string& path) {
    removed_.erase(path);
    if (!is_lock(path)) names_beside(path).insert(path);
  }
  // What isn't synced of all but one file. The name of a file without content is no loss; that of a mark is, there or
  // gone.
  std::string unsynced(const std::string& but) const {
    for (const std::string& file : unsynced_)
      if (file != but) return file + " is synced";
    for (const auto& [folder, names] : unsynced_names_)
      for (const std::string& name : names)
        if (name != but && (filled_.contains(name) || is_mark(name))) return "the name " + name + " is synced";
    return {};
  }

  bool sync_;
  std::set<std::string> unsynced_, filled_, removed_;
  std::map<std::string, std::set<std::string>> unsynced_names_;
};

}  // namespace

std::string first_without_its_lock(const std::vector<RecordedCall>& calls,
                                   const std::function<std::string(const std::string& path)>& lock_of) {
  std::set<std::string> held;
  for (const RecordedCall& call : calls) {
    constexpr std::uint64_t exclusive = 2, let_go = 8;  // LOCK_EX, LOCK_UN
    if (call.name == "flock" && call.bytes & exclusive) held.insert(call.path);
    if (call.name == "flock" && call.bytes & let_go) held.erase(call.path);
    if (call.name == "flock" || call.name == "mkdir" || call.flags.find("folder") != std::string::npos) continue;
    const std::string& path = call.name == "rename" ? call.second : call.path;
    const std::string lock = is_lock(path) ? "" : lock_of(path);
    if (!lock.empty() && lock != path && !held.contains(lock))
      return "call " + std::to_string(call.number) + ", " + call.name + " " + path + ", without " + lock;
  }
  return {};
}

std::vector<RecordedCall> calls_in(const std::string& log) {
  std::vector<RecordedCall> calls;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    std::istringstream cells(line);
    RecordedCall call;
    std::string number, offset, bytes, failed;
    std::getline(cells, number, '\t');
    std::getline(cells, call.name, '\t');
    std::getline(cells, call.path, '\t');
    std::getline(cells, call.second, '\t');
    std::getline(cells, offset, '\t');
    std::getline(cells, bytes, '\t');
    std::getline(cells, call.flags, '\t');
    std::getline(cells, failed, '\t');
    call.number = std::stoul(number);
    call.offset = std::stoll(offset);
    call.bytes = std::stoull(bytes);
    call.failed = std::stoi(failed);
    calls.push_back(std::move(call));
  }
  return calls;
}

std::vector<RecordedCall> calls_that_matter(const std::vector<RecordedCall>& calls) {
  std::map<std::string, unsigned long> removed;
  for (const RecordedCall& call : calls)
    if (call.name == "unlink") removed[call.path] = call.number;
  std::vector<RecordedCall> chosen;
  for (const RecordedCall& call : calls) {
    const auto gone = removed.find(call.path);
    if (is_lock(call.path) || (gone != removed.end() && gone->second > call.number)) continue;
    const bool writes = call.name == "write" || call.name == "pwrite" || call.name == "writev";
    const bool syncs = call.name == "fsync" || call.name == "fdatasync" || call.name == "syncfs";
    const bool closes = call.name == "close" && !is_lmdb_data(call.path);
    if (writes || syncs || closes || call.name == "rename") chosen.push_back(call);
  }
  return chosen;
}

std::string first_that_would_not_last(const std::vector<RecordedCall>& calls, bool sync) {
  Disk disk(sync);
  for (const RecordedCall& call : calls)
    if (std::string what = disk.take(call); !what.empty()) return what;
  return disk.at_the_end();
}

}  // namespace penstock_test
