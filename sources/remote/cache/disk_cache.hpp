// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <penstock/extend/byte_source.hpp>
#include <penstock/extend/store_files.hpp>

#include "cache/cache_folder.hpp"
#include "cache/cache_key.hpp"

namespace penstock::remote {

/// The right to make an entry, which one process has at a time. Dies with the process. One thread at a time.
class CacheClaim {
 public:
  explicit CacheClaim(std::string path);
  CacheClaim(const CacheClaim&) = delete;
  CacheClaim& operator=(const CacheClaim&) = delete;
  ~CacheClaim();
  /// Returns false if another process, or another thread, has the right. @throws Error if there can't be an entry.
  bool take();
  const std::string& path() const noexcept { return path_; }  ///< where the complete entry goes
  const std::string& part() const noexcept { return part_; }  ///< where the entry is written
  /// Shows processes that wait for the entry that it is still being made.
  void touch() const noexcept;
  /// Says that `part` is no longer there.
  void end() noexcept { ended_ = true; }

 private:
  const std::string path_, part_;
  const int process_;
  std::unique_ptr<FileLock> lock_;
  bool ended_ = false;
};

/// Keeps ranges of files, and notes about files, on a disk. An entry has its length and a hash at its end. An entry
/// with other bytes is removed. Without a disk that works, nothing is kept, and nothing fails. Any thread.
class DiskCache {
 public:
  /// @throws Error like CacheFolder.
  DiskCache(const std::string& folder, std::uint64_t most_bytes) : folder_(folder, most_bytes) {}

  const std::string& folder() const noexcept { return folder_.path(); }
  /// Bytes of a cache that has room for one range of `bytes`.
  static std::uint64_t least_bytes(std::uint64_t bytes) noexcept { return entry_bytes(bytes) + CacheFolder::own_bytes; }
  /// Says that a client has opened the file now.
  void use(const CacheKey& file) const noexcept { folder_.use(file); }

  /// Fills `out` with a range. Returns false if the range is not kept.
  bool read(const CacheKey& file, ByteRange range, std::span<std::byte> out) noexcept;
  /// Returns a range as a map of its entry's file. Null: the range is not kept. Maps stay for later calls.
  std::shared_ptr<const std::byte> map(const CacheKey& file, ByteRange range) noexcept;
  /// Whether there is such a map already.
  bool has_map(const CacheKey& file, ByteRange range) const noexcept;
  enum class Outcome : std::uint8_t {
    claimed,     ///< the caller may make the entry
    kept,        ///< the entry is there; the disk reads it ahead
    busy,        ///< another process is making it
    impossible,  ///< there can't be an entry
  };
  /// Looks for a range, and claims it if it is not kept. `progress`: a number that changes while another process is
  /// making the entry.
  Outcome claim(const CacheKey& file, ByteRange range, std::unique_ptr<CacheClaim>& claim,
                std::int64_t& progress) noexcept;
  /// Makes an entry of a claimed range. Returns 0, or the system's error code; `no_room`: the bound is reached.
  int keep(CacheClaim& claim, std::span<const std::byte> bytes) noexcept { return write(claim, bytes, false); }
  static constexpr int no_room = CacheFolder::no_room;

  /// Returns a note; empty if there is none.
  std::vector<std::byte> note(const CacheKey& file, std::string_view name);
  /// Keeps a note. Ranges make room for it.
  void keep_note(const CacheKey& file, std::string_view name, std::span<const std::byte> bytes) noexcept;

 private:
  struct Trailer {
    std::uint64_t bytes = 0, hash = 0;
  };
  static std::uint64_t entry_bytes(std::uint64_t bytes) noexcept { return bytes + sizeof(Trailer); }
  static Trailer trailer_of(const std::string& path, std::span<const std::byte> bytes) noexcept;
  static bool is_right(const std::string& path, int descriptor, std::span<const std::byte> bytes) noexcept;
  bool is_whole(const std::string& path, int descriptor, const struct stat& status,
                std::span<const std::byte> bytes) noexcept;
  int write(CacheClaim& claim, std::span<const std::byte> bytes, bool by_others) noexcept;
  void disk_failed() noexcept;
  bool disk_fails() const noexcept;

  CacheFolder folder_;
  mutable std::mutex mutex_;
  std::unordered_set<std::uint64_t> whole_;  // entries whose hash was compared: a hash of path and state
  std::int64_t failed_until_ = 0;            // nothing is written before
  struct Map {
    std::shared_ptr<const std::byte> bytes;
    std::uint64_t inode = 0;
    timespec changed{};
  };
  std::unordered_map<std::string, Map> maps_;
};

}  // namespace penstock::remote
