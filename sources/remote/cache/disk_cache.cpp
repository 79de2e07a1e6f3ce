// SPDX-License-Identifier: Apache-2.0
#include "cache/disk_cache.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/process_id.hpp>
#include <penstock/extend/system_error.hpp>

#include "errors.hpp"

namespace penstock::remote {

namespace {

constexpr std::int64_t seconds_failed = 10;
constexpr std::uint64_t largest_note = std::uint64_t{1} << 32;

std::int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::size_t most_maps = 8192;  // a process may have 65,530 maps

// Has the system read all pages, so that a disk that fails is noticed here, and not by the signal SIGBUS.
bool can_be_read(void* data, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_READ
  if (::madvise(data, bytes, MADV_POPULATE_READ) != 0) return errno == EINVAL;  // the system is older
#endif
  return true;
}

int open_entry(const std::string& path) noexcept {
  return uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW); });
}

std::string name_of(ByteRange range) { return std::to_string(range.offset) + "-" + std::to_string(range.bytes); }

// Returns "KEY/NAME".
std::string_view name_in_cache(std::string_view path) { return path.substr(path.rfind('/', path.rfind('/') - 1) + 1); }

bool write_whole(int descriptor, std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
  while (!bytes.empty()) {
    const ssize_t put =
        uninterrupted([&] { return ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (put <= 0) {
      if (put == 0) errno = EIO;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
  return true;
}

}  // namespace

CacheClaim::CacheClaim(std::string path)
    : path_(std::move(path)),
      part_(path_ + std::string(CacheFolder::part_ending)),
      process_(process_id()),
      lock_(std::make_unique<FileLock>()) {}

CacheClaim::~CacheClaim() {
  if (process_id() != process_) {
    static_cast<void>(lock_.release());  // releasing the child's copy of the lock would release the parent's
    return;
  }
  if (lock_->held() && !ended_) ::unlink(part_.c_str());
}

void CacheClaim::touch() const noexcept { ::utimensat(AT_FDCWD, part_.c_str(), nullptr, AT_SYMLINK_NOFOLLOW); }

bool CacheClaim::take() { return lock_->take(part_, source_name); }

// The hash begins with the entry's name, so that a file that was moved is found out.
DiskCache::Trailer DiskCache::trailer_of(const std::string& path, std::span<const std::byte> bytes) noexcept {
  const std::string_view name = name_in_cache(path);
  return {bytes.size(), XXH3_64bits_withSeed(bytes.data(), bytes.size(), XXH3_64bits(name.data(), name.size()))};
}

// Compares the bytes with the hash at the entry's end.
bool DiskCache::is_right(const std::string& path, int descriptor, std::span<const std::byte> bytes) noexcept {
  Trailer said;
  const std::size_t got = read_whole(descriptor, std::as_writable_bytes(std::span(&said, 1)), bytes.size());
  const Trailer is = trailer_of(path, bytes);
  return got == sizeof said && said.bytes == is.bytes && said.hash == is.hash;
}

// Does so once per entry.
bool DiskCache::is_whole(const std::string& path, int descriptor, const struct stat& status,
                         std::span<const std::byte> bytes) noexcept {
  // A change of the file shows in the time of its last change.
  const std::array<std::int64_t, 4> state{static_cast<std::int64_t>(status.st_ino), status.st_size,
                                          status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
  const std::uint64_t entry = XXH3_64bits_withSeed(state.data(), sizeof state, XXH3_64bits(path.data(), path.size()));
  {
    const std::lock_guard lock(mutex_);
    if (whole_.contains(entry)) return true;
  }
  if (!is_right(path, descriptor, bytes)) return false;
  try {
    const std::lock_guard lock(mutex_);
    whole_.insert(entry);
  } catch (...) {  // it is compared again
  }
  return true;
}

bool DiskCache::read(const CacheKey& file, ByteRange range, std::span<std::byte> out) noexcept {
  try {
    const std::string path = folder_.folder_of(file) + "/" + name_of(range);
    const FileDescriptor entry(open_entry(path));
    struct stat status {};
    if (entry.get() < 0 || ::fstat(entry.get(), &status) != 0) return false;
    if (static_cast<std::uint64_t>(status.st_size) == entry_bytes(out.size()) &&
        read_whole(entry.get(), out, 0) == out.size() && is_whole(path, entry.get(), status, out))
      return true;
    folder_.remove(path, status.st_ino);
  } catch (...) {  // it is fetched
  }
  return false;
}

std::shared_ptr<const std::byte> DiskCache::map(const CacheKey& file, ByteRange range) noexcept {
  try {
    const std::string path = folder_.folder_of(file) + "/" + name_of(range);
    const FileDescriptor entry(open_entry(path));
    struct stat status {};
    const bool is_there = entry.get() >= 0 && ::fstat(entry.get(), &status) == 0;
    {
      const std::lock_guard lock(mutex_);
      const auto known = maps_.find(path);
      if (known != maps_.end() && is_there && known->second.inode == status.st_ino &&
          known->second.changed.tv_sec == status.st_ctim.tv_sec &&
          known->second.changed.tv_nsec == status.st_ctim.tv_nsec)
        return known->second.bytes;
      if (known != maps_.end()) maps_.erase(known);  // so that the disk gets the bytes of a removed file back
    }
    if (!is_there) return nullptr;
    const auto bytes = static_cast<std::size_t>(range.bytes);
    if (static_cast<std::uint64_t>(status.st_size) == entry_bytes(bytes)) {
      void* const data = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, entry.get(), 0);
      if (data == MAP_FAILED) return nullptr;
      const std::shared_ptr<const std::byte> mapped(static_cast<const std::byte*>(data), [bytes](const std::byte* at) {
        ::munmap(const_cast<std::byte*>(at), bytes);  // munmap takes no pointer to const
      });
      if (can_be_read(data, bytes) && is_whole(path, entry.get(), status, {mapped.get(), bytes})) {
        const std::lock_guard lock(mutex_);
        if (maps_.size() >= most_maps) maps_.erase(maps_.begin());
        maps_[path] = {mapped, status.st_ino, status.st_ctim};
        return mapped;
      }
    }
    folder_.remove(path, status.st_ino);
  } catch (...) {  // it is fetched
  }
  return nullptr;
}

bool DiskCache::has_map(const CacheKey& file, ByteRange range) const noexcept {
  try {
    const std::string path = folder_.folder_of(file) + "/" + name_of(range);
    const std::lock_guard lock(mutex_);
    return maps_.contains(path);
  } catch (...) {
    return false;
  }
}

DiskCache::Outcome DiskCache::claim(const CacheKey& file, ByteRange range, std::unique_ptr<CacheClaim>& claim,
                                    std::int64_t& progress) noexcept {
  try {
    const std::string path = folder_.folder_of(file) + "/" + name_of(range);
    const auto is_kept = [&] {
      const FileDescriptor entry(open_entry(path));
      if (entry.get() < 0) return false;
      ::posix_fadvise(entry.get(), 0, 0, POSIX_FADV_WILLNEED);
      return true;
    };
    if (is_kept()) return Outcome::kept;
    if (disk_fails() || !folder_.make_folder(file)) return Outcome::impossible;
    auto made = std::make_unique<CacheClaim>(path);
    if (!made->take()) {
      struct stat status {};
      if (::stat(made->part().c_str(), &status) == 0)
        progress = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
      else if (is_kept())  // the other process has just made it
        return Outcome::kept;
      return Outcome::busy;
    }
    if (is_kept()) return Outcome::kept;  // another process has just made it
    claim = std::move(made);
    return Outcome::claimed;
  } catch (...) {
    return Outcome::impossible;
  }
}

int DiskCache::write(CacheClaim& claim, std::span<const std::byte> bytes, bool by_others) noexcept {
  try {
    if (const int code = folder_.reserve(claim.part(), entry_bytes(bytes.size()), by_others); code != 0) return code;
    const Trailer trailer = trailer_of(claim.path(), bytes);
    FileDescriptor file(uninterrupted([&] { return ::open(claim.part().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW); }));
    struct stat status {};
    int code = file.get() < 0 || ::fstat(file.get(), &status) != 0 ? errno : 0;
    if (code == 0 && (!write_whole(file.get(), bytes, 0) ||
                      !write_whole(file.get(), std::as_bytes(std::span(&trailer, 1)), bytes.size())))
      code = errno;
    if (const int closing = file.close(); code == 0) code = closing;
    if (code == 0) code = folder_.publish(claim.part(), claim.path());
    claim.end();
    if (code == 0) return 0;
    folder_.remove(claim.part(), status.st_ino);
    disk_failed();
    return code;
  } catch (...) {
    return ENOMEM;
  }
}

std::vector<std::byte> DiskCache::note(const CacheKey& file, std::string_view name) {
  const std::string path = folder_.folder_of(file) + "/" + std::string(CacheFolder::note_beginning).append(name);
  const FileDescriptor entry(open_entry(path));
  struct stat status {};
  if (entry.get() < 0 || ::fstat(entry.get(), &status) != 0) return {};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size >= sizeof(Trailer) && size <= largest_note) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(size - sizeof(Trailer)));
    if (read_whole(entry.get(), bytes, 0) == bytes.size() && is_right(path, entry.get(), bytes)) return bytes;
  }
  folder_.remove(path, status.st_ino);
  return {};
}

void DiskCache::keep_note(const CacheKey& file, std::string_view name, std::span<const std::byte> bytes) noexcept {
  try {
    if (disk_fails() || !folder_.make_folder(file)) return;
    CacheClaim claim(folder_.folder_of(file) + "/" + std::string(CacheFolder::note_beginning).append(name));
    if (!claim.take()) return;
    struct stat status {};
    if (::lstat(claim.path().c_str(), &status) != 0) static_cast<void>(write(claim, bytes, true));  // not there yet
  } catch (...) {  // it is learned again
  }
}

// A disk that is full or fails is left alone for a while.
void DiskCache::disk_failed() noexcept {
  const std::lock_guard lock(mutex_);
  failed_until_ = now_s() + seconds_failed;
}

bool DiskCache::disk_fails() const noexcept {
  const std::lock_guard lock(mutex_);
  return now_s() < failed_until_;
}

}  // namespace penstock::remote
