// SPDX-License-Identifier: Apache-2.0
// Disks without room, of any size, in children that no signal may end.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <penstock/sources/lmdb.hpp>

#include "sources/source_checks.hpp"
#include "sources/temp_folder.hpp"
#include "store_jobs.hpp"
#include "support/catch.hpp"

using namespace penstock_test;

namespace {

constexpr std::uint64_t page = 4096;

std::uint64_t free_bytes(const std::string& path) {
  struct statvfs space {};
  if (::statvfs(path.c_str(), &space) != 0) throw std::runtime_error("statvfs failed");
  return static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
}

// A file system in memory of 2 MiB, of this process and its children.
void mount_disk(const std::string& path) {
  if (::unshare(CLONE_NEWNS) != 0) {
    const auto user = ::getuid();
    const auto group = ::getgid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) throw std::runtime_error("no namespace of its own");
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1";
  }
  ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  std::filesystem::create_directories(path);
  if (::mount("tmpfs", path.c_str(), "tmpfs", 0, "size=2m") != 0) throw std::runtime_error("tmpfs can't be mounted");
}

// Takes all room but so much.
class Filler {
 public:
  Filler(const std::string& disk, std::uint64_t room) : file_(disk + "/filler") {
    const int fd = ::open(file_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    const std::uint64_t have = free_bytes(disk);
    if (fd < 0 || (have > room && ::posix_fallocate(fd, 0, static_cast<off_t>(have - room)) != 0))
      throw std::runtime_error("the disk can't be filled");
    ::close(fd);
    if (free_bytes(disk) > room) throw std::runtime_error("the disk is not full");
  }
  Filler(const Filler&) = delete;
  Filler& operator=(const Filler&) = delete;
  ~Filler() { std::filesystem::remove(file_); }

 private:
  std::string file_;
};

void require(bool fine, const std::string& what) {
  if (!fine) throw std::runtime_error(what);
}

std::string whole_of(const StoreJob& job, const std::string& to) {
  const ChildEnd end = run_child([&] {
    job.write(to, {});
    return std::string();
  });
  require(end.well(), job.name + " undisturbed: " + end.said);
  return job.content(to);
}

// A writer without room ends with an error that says so, or, a cache, without what it could not keep. With room again
// it goes on.
std::uint64_t write_without_room(const StoreJob& job, const std::string& disk, const std::string& content,
                                 std::uint64_t room) {
  const std::string where = job.name + " with " + std::to_string(room) + " bytes: ", to = disk + "/to";
  const bool sync = room / page % 2 == 0;
  const auto write = [&] { return std::to_string(job.write(to, {.sync = sync, .commit_every = 5})); };
  ChildEnd end;
  {
    const Filler filler(disk, room);
    end = run_child(write);
  }
  require(end.signal == 0, where + "signal " + std::to_string(end.signal));
  if (end.exit_code != 0) {
    require(end.said.starts_with("io"), where + end.said);
    require(end.said.find("make room, then run it again") != std::string::npos, where + end.said);
    require(end.said.find(disk) != std::string::npos, where + end.said);
  }
  for (int tries = 0; tries < 2; ++tries) {  // a cache keeps the rest in the next run
    const ChildEnd then = run_child(write);
    require(then.well(), where + "with room again: " + then.said);
  }
  const ChildEnd read = run_child([&] {
    require(job.content(to) == content, "other content");
    return std::string();
  });
  require(read.well(), where + "reading: " + read.said);
  std::filesystem::remove_all(to);
  return end.exit_code != 0 ? 1 : 0;
}

// A reader of a store without its lock file needs no room.
void read_without_room(const StoreJob& job, const std::string& disk, const std::string& content, std::uint64_t room) {
  const std::string where = job.name + " read with " + std::to_string(room) + " bytes: ";
  for (const char* const lock : {"store/lock.mdb", "store.lmdb-lock", "cache/lock.mdb"})
    std::filesystem::remove(disk + "/whole/" + lock);
  const Filler filler(disk, room);
  for (int times = 0; times < 2; ++times) {
    const ChildEnd end = run_child([&] {
      require(job.content(disk + "/whole") == content, "other content");
      return std::string();
    });
    require(end.well(), where + "signal " + std::to_string(end.signal) + " " + end.said);
  }
}

// A reader that has no room for a lock file says so, and keeps writers out while it reads.
std::string read_unlocked(const std::string& disk) {
  const StoreJob& job = store_jobs().front();
  const std::string content = whole_of(job, disk + "/whole"), store = disk + "/whole/store";
  std::filesystem::remove(store + "/lock.mdb");
  int ready[2], done[2];
  require(::pipe(ready) == 0 && ::pipe(done) == 0, "no pipes");
  std::optional<Filler> filler(std::in_place, disk, 0);
  RunningChild reader([&] {
    ::close(done[1]);
    const penstock::LmdbSource source({.path = store});
    const std::vector<std::string> notes = source.notes();
    char byte = 'r';
    require(::write(ready[1], &byte, 1) == 1 && ::read(done[0], &byte, 1) >= 0, "no pipes");
    require(notes.size() == 1 && notes[0].find("there is no room") != std::string::npos, "no note");
    require(read_text(source, 0).size() == 1, "read otherwise");
    return std::string();
  });
  char byte = 0;
  ::close(ready[1]);
  if (::read(ready[0], &byte, 1) != 1) throw std::runtime_error("the reader is gone: " + reader.end().said);
  filler.reset();
  const auto write = [&] { return std::to_string(job.write(disk + "/whole", {})); };
  const ChildEnd refused = run_child(write);
  require(refused.said.starts_with("invalid_argument: another process (") &&
              refused.said.find("reads it without LMDB's lock file") != std::string::npos,
          "a writer was not refused: " + refused.said);
  ::close(done[1]);
  const ChildEnd read = reader.end();
  require(read.well(), "the reader: " + read.said);
  const ChildEnd taken = run_child(write);
  require(taken.well() && taken.said == "0", "the writer afterwards: " + taken.said);
  const ChildEnd with_lock = run_child([&] {
    require(penstock::LmdbSource({.path = store}).notes().empty(), "a note with a lock file");
    return std::string();
  });
  require(with_lock.well(), with_lock.said);
  return {};
}

std::string fill_disks(const std::string& disk) {
  const std::uint64_t step = number_of("PENSTOCK_DISK_STEP", 28 * 1024), most = 330 * 1024;
  std::string said;
  for (const StoreJob& job : chosen_jobs()) {
    const std::string content = whole_of(job, disk + "/whole");
    std::uint64_t sizes = 0, errors = 0;
    for (std::uint64_t room = 0; room <= most; room += step) {
      read_without_room(job, disk, content, room);
      errors += write_without_room(job, disk, content, room);
      ++sizes;
    }
    std::filesystem::remove_all(disk + "/whole");
    said += job.name + ": " + std::to_string(sizes) + " disks, " + std::to_string(errors) + " errors; ";
    require(errors != 0, job.name + ": no disk was too small");
  }
  return said;
}

// Runs `test` in a child with a disk of its own, and tells what it says.
template <class F>
void on_a_disk(F test) {
  const TempFolder folder;
  const std::string disk = folder / "disk";
  const ChildEnd allowed = run_child([&] {
    mount_disk(disk);
    return std::string();
  });
  if (!allowed.well()) PENSTOCK_SKIP(("a file system can't be mounted here: " + allowed.said).c_str());
  const ChildEnd end = run_child([&] {
    mount_disk(disk);
    return test(disk);
  });
  INFO(end.said);
  REQUIRE(end.well());
  if (!end.said.empty()) WARN(end.said);
}

}  // namespace

TEST_CASE("a store that is read without a lock file as there is no room is not written to meanwhile") {
  on_a_disk(read_unlocked);
}

// PENSTOCK_DISK_STEP: bytes from one size to the next; PENSTOCK_STORE: one kind only.
TEST_CASE("on a disk without room nothing dies and with room again everything goes on") { on_a_disk(fill_disks); }
