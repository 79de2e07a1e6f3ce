// SPDX-License-Identifier: Apache-2.0
#include "cache/cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/process_id.hpp>
#include <penstock/extend/system_error.hpp>

#include "errors.hpp"

namespace penstock::remote {

namespace {

constexpr std::string_view used_name = "used";
constexpr std::string_view tag =
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# Ranges of files on servers, kept by Penstock. The folder may be removed at any time.\n";
constexpr std::size_t key_digits = 32;
// After it was found that no file can be evicted, this is not tried again for a while, because it looks at all files.
constexpr std::int64_t nanoseconds_full = 5'000'000'000;
// How long the lock is waited for, and how long it is left alone after that. Others hold it while they look at all
// files.
constexpr std::int64_t nanoseconds_to_lock = 5'000'000'000, nanoseconds_stuck = 30'000'000'000;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * 1'000'000'000 + time.tv_nsec; }

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

std::int64_t steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool all_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_key(std::string_view name) { return name.size() == key_digits && all_of(name, "0123456789abcdef"); }

// Whether an entry has a name that this class gives: "OFFSET-BYTES", "note-NAME", and such names with ".part".
bool is_ours(std::string_view name) {
  if (name.ends_with(CacheFolder::part_ending)) name.remove_suffix(CacheFolder::part_ending.size());
  if (name.starts_with(CacheFolder::note_beginning)) return true;
  const std::size_t dash = name.find('-');
  return dash != std::string_view::npos && dash != 0 && dash + 1 != name.size() &&
         all_of(name.substr(0, dash), "0123456789") && all_of(name.substr(dash + 1), "0123456789");
}

// Calls `look(name)` for everything in a folder but "." and "..". An unreadable folder is like an empty one.
template <class Look>
void for_each_in(const std::string& folder, Look&& look) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()), ::closedir);
  if (entries == nullptr) return;
  while (const dirent* const entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") look(name);
  }
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return status;
}

std::uint64_t size_of(const struct stat& status) { return static_cast<std::uint64_t>(status.st_size); }

void make_one(const std::string& folder) {
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    throw system_error(source_name, errno, "making the cache's folder", folder);
}

void make_all(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1); end != std::string::npos; end = folder.find('/', end + 1))
    make_one(folder.substr(0, end));
  make_one(folder);
}

// Removes the file, unless a living process has locked it. Returns whether it did.
bool remove_if_abandoned(const std::string& path) {
  FileLock lock;
  if (!lock.take(path, source_name)) return false;
  return ::unlink(path.c_str()) == 0;
}

}  // namespace

/// Keeps out all other threads and processes, if `held`.
class CacheFolder::Locked {
 public:
  explicit Locked(CacheFolder& folder) : folder_(folder), guard_(folder.mutex_) {
    if (steady_now() < folder.stuck_until_) return;
    held_ = take();
    // Another process may have removed the folder. Then others have another lock.
    for (int tries = 3; held_ && tries > 0 && !folder.is_own_lock(); --tries) {
      ::flock(folder.lock_->get(), LOCK_UN);
      folder.make();
      folder.begin_client();
      held_ = take();
      if (held_) folder.set_bytes(folder.count_and_sweep());
    }
    if (!held_) folder.stuck_until_ = steady_now() + nanoseconds_stuck;
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() {
    if (held_) ::flock(folder_.lock_->get(), LOCK_UN);
  }
  bool held() const noexcept { return held_; }

 private:
  // A process that holds the lock may have been stopped.
  bool take() const {
    constexpr auto pause = std::chrono::milliseconds(2);
    for (const std::int64_t end = steady_now() + nanoseconds_to_lock;; std::this_thread::sleep_for(pause)) {
      if (uninterrupted([&] { return ::flock(folder_.lock_->get(), LOCK_EX | LOCK_NB); }) == 0) return true;
      if (errno != EWOULDBLOCK || steady_now() >= end) return false;
    }
  }

  CacheFolder& folder_;
  const std::lock_guard<std::mutex> guard_;
  bool held_ = false;
};

struct CacheFolder::Kept {
  std::string folder;
  std::int64_t used = 0;
};

CacheFolder::CacheFolder(const std::string& folder, std::uint64_t most_bytes)
    : path_(std::filesystem::absolute(folder).string()),
      root_(path_ + "/v1"),
      files_(root_ + "/files"),
      clients_(root_ + "/clients"),
      most_bytes_(most_bytes),
      process_(process_id()) {
  make();
  begin_client();
  const Locked locked(*this);
  if (!locked.held()) return;
  set_bytes(count_and_sweep());
  make_room(0, Evict::all);
}

// Numbers of processes come again, also in other containers.
void CacheFolder::begin_client() {
  std::random_device random;
  for (int tries = 10; tries > 0; --tries) {
    own_ = clients_ + "/" + std::to_string(random()) + "-" + std::to_string(random());
    if (alive_.take(own_, source_name)) return;
  }
  own_.clear();
}

bool CacheFolder::is_own_lock() const noexcept {
  struct stat own {
  }, there{};
  return ::fstat(lock_->get(), &own) == 0 && ::stat((root_ + "/lock").c_str(), &there) == 0 &&
         own.st_ino == there.st_ino && own.st_dev == there.st_dev;
}

CacheFolder::~CacheFolder() {
  if (process_id() != process_ || !alive_.held()) return;
  ::unlink(own_.c_str());
}

void CacheFolder::make() {
  make_all(root_);
  const std::string mark = root_ + "/CACHEDIR.TAG";
  if (!status_of(mark)) {
    // Another process may be making the folder, or removing it.
    bool strange = false;
    for_each_in(root_, [&](std::string_view name) {
      strange = strange || (name != "files" && name != "clients" && name != "lock" && name != "CACHEDIR.TAG");
    });
    if (strange)
      throw file_error(
          source_name, root_, Errc::invalid_argument,
          "the folder has files and is not a cache (CACHEDIR.TAG is missing); give another folder as `cache`");
    OutputFile file(mark, 0, source_name);
    file.append(tag);
    file.close();
  }
  make_one(files_);
  make_one(clients_);
  const std::string path = root_ + "/lock";
  lock_.emplace(uninterrupted(
      [&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR); }));
  if (lock_->get() < 0) throw system_error(source_name, errno, "opening", path);
}

// Returns the bytes of all files. Removes unfinished entries of dead processes.
std::uint64_t CacheFolder::count_and_sweep() {
  static_assert(tag.size() + sizeof(std::uint64_t) <= own_bytes);
  std::uint64_t sum = own_bytes;
  for_each_in(files_, [&](std::string_view key) {
    if (!is_key(key)) return;
    const std::string folder = files_ + "/" + std::string(key);
    for_each_in(folder, [&](std::string_view name) {
      const std::string path = folder + "/" + std::string(name);
      if (name.ends_with(part_ending) && is_ours(name) && remove_if_abandoned(path)) return;
      if (const auto status = status_of(path)) sum += size_of(*status);
    });
  });
  return sum;
}

std::uint64_t CacheFolder::bytes() const noexcept {
  std::uint64_t bytes = 0;
  const std::size_t got = read_whole(lock_->get(), std::as_writable_bytes(std::span(&bytes, 1)), 0);
  return got == sizeof bytes ? bytes : most_bytes_;  // nothing is known: nothing is added
}

void CacheFolder::set_bytes(std::uint64_t bytes) const noexcept {
  static_cast<void>(uninterrupted([&] { return ::pwrite(lock_->get(), &bytes, sizeof bytes, 0); }));
}

bool CacheFolder::make_folder(const CacheKey& file) const noexcept {
  try {
    const std::string folder = folder_of(file);
    if (::mkdir(folder.c_str(), S_IRWXU) != 0) return errno == EEXIST;
    use(file);
    return true;
  } catch (...) {
    return false;
  }
}

void CacheFolder::use(const CacheKey& file) const noexcept {
  try {
    const std::string folder = folder_of(file);
    if (!status_of(folder)) return;
    const std::string path = folder + "/" + std::string(used_name);
    const FileDescriptor stamp(uninterrupted(
        [&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR); }));
    if (stamp.get() >= 0) ::futimens(stamp.get(), nullptr);
  } catch (...) {  // it counts as unused
  }
}

int CacheFolder::reserve(const std::string& path, std::uint64_t bytes, bool by_others) {
  const Locked locked(*this);
  if (!locked.held()) return EAGAIN;
  const FileDescriptor file(uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW); }));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return errno;
  const std::uint64_t before = size_of(status);
  if (bytes > before && !make_room(bytes - before, by_others ? Evict::notes_stay : Evict::unused)) return no_room;
  // Should the process be killed between the two, too much is counted, until the next client counts again.
  const std::uint64_t all = this->bytes();
  if (bytes > before) set_bytes(all + bytes - before);
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) {
    const int code = errno;
    set_bytes(all);
    return code;
  }
  if (bytes < before) set_bytes(all - (before - bytes));
  return 0;
}

int CacheFolder::publish(const std::string& part, const std::string& path) noexcept {
  try {
    const Locked locked(*this);  // so that who counts the files sees it once
    if (!locked.held()) return EAGAIN;
    return ::rename(part.c_str(), path.c_str()) == 0 ? 0 : errno;
  } catch (...) {
    return ENOMEM;
  }
}

void CacheFolder::remove(const std::string& path, std::uint64_t inode) noexcept {
  try {
    const Locked locked(*this);
    if (!locked.held()) return;
    const auto status = status_of(path);
    if (!status || status->st_ino != inode || ::unlink(path.c_str()) != 0) return;
    const std::uint64_t all = bytes();
    set_bytes(all - std::min(all, size_of(*status)));
  } catch (...) {  // it stays, and is counted
  }
}

// Makes room within the bound. REQUIRES: Locked.
bool CacheFolder::make_room(std::uint64_t wanted, Evict which) {
  std::uint64_t all = bytes();
  std::uint64_t most = most_bytes_;
  const auto has_room = [&] { return all <= most && wanted <= most - all; };
  if (has_room()) return true;
  if (wanted > most_bytes_ || (which == Evict::unused && steady_now() < full_until_)) return false;
  // Somewhat more, because this looks at all files.
  if (which == Evict::unused && wanted <= most_bytes_ - most_bytes_ / 32) most -= most_bytes_ / 32;
  const std::vector<Kept> kept = kept_files();
  const std::int64_t in_use = oldest_client();
  const auto evict = [&](const Kept& file, Evict what) {
    const std::uint64_t removed = remove_entries(file.folder, what, what == Evict::all ? all : all + wanted - most);
    all -= std::min(all, removed);
    set_bytes(all);
    if (what == Evict::all && ::unlink((file.folder + "/" + std::string(used_name)).c_str()) == 0)
      ::rmdir(file.folder.c_str());
  };
  std::size_t next = 0;
  for (; next < kept.size() && kept[next].used < in_use && !has_room(); ++next) evict(kept[next], Evict::all);
  if (which != Evict::unused)
    for (std::size_t i = kept.size(); i > next && !has_room(); --i) evict(kept[i - 1], Evict::notes_stay);
  if (which == Evict::all)
    for (std::size_t i = kept.size(); i > next && !has_room(); --i) evict(kept[i - 1], Evict::all);
  most = most_bytes_;
  if (has_room()) return true;
  full_until_ = steady_now() + nanoseconds_full;
  return false;
}

// Returns the files of the cache, the one that was opened longest ago first.
std::vector<CacheFolder::Kept> CacheFolder::kept_files() const {
  std::vector<Kept> kept;
  for_each_in(files_, [&](std::string_view key) {
    if (!is_key(key)) return;
    Kept one{files_ + "/" + std::string(key)};
    if (const auto status = status_of(one.folder + "/" + std::string(used_name)))
      one.used = nanoseconds(status->st_mtim);
    kept.push_back(std::move(one));
  });
  std::ranges::sort(kept, {}, [](const Kept& one) { return std::pair(one.used, one.folder); });
  return kept;
}

// Returns when the oldest living client began. Forgets dead ones.
std::int64_t CacheFolder::oldest_client() const {
  std::int64_t oldest = now();
  for_each_in(clients_, [&](std::string_view name) {
    const std::string path = clients_ + "/" + std::string(name);
    const auto status = status_of(path);
    if (path != own_ && (!status || remove_if_abandoned(path))) return;
    if (status) oldest = std::min(oldest, nanoseconds(status->st_mtim));
  });
  return oldest;
}

// Removes entries until `wanted` bytes are free, or all. Returns the bytes.
std::uint64_t CacheFolder::remove_entries(const std::string& folder, Evict which, std::uint64_t wanted) const noexcept {
  std::uint64_t removed = 0;
  try {
    for_each_in(folder, [&](std::string_view name) {
      if (removed >= wanted || !is_ours(name)) return;
      const std::string path = folder + "/" + std::string(name);
      const auto status = status_of(path);
      if (!status || !S_ISREG(status->st_mode)) return;
      if (name.ends_with(part_ending)) {
        if (remove_if_abandoned(path)) removed += size_of(*status);
      } else if (which == Evict::all || !name.starts_with(note_beginning)) {
        if (::unlink(path.c_str()) == 0) removed += size_of(*status);
      }
    });
  } catch (...) {  // no memory: what was removed counts
  }
  return removed;
}

std::string default_cache_folder() {
  for (const auto& [variable, below] :
       {std::pair("XDG_CACHE_HOME", "/penstock"), std::pair("HOME", "/.cache/penstock")})
    if (const char* const folder = std::getenv(variable); folder != nullptr && folder[0] == '/')
      return std::string(folder) + below;
  throw Error(Errc::invalid_argument, "there is no folder for the cache, as neither XDG_CACHE_HOME nor HOME is set")
      .with_source(std::string(source_name));
}

}  // namespace penstock::remote
