// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/store_files.hpp>

#include "cache/cache_key.hpp"

namespace penstock::remote {

/// The folder of a cache, which the processes of a machine share. The bytes of all its files together are at most a
/// bound. Removes only files that it has named itself.
///
///     CACHE/v1/CACHEDIR.TAG          marks the folder as ours
///     CACHE/v1/lock                  bytes of all files; locked while files change their sizes
///     CACHE/v1/clients/RANDOM        locked as long as a client lives; its time is when the client began
///     CACHE/v1/files/KEY/used        when a client last opened the file
///     CACHE/v1/files/KEY/NAME        an entry
///     CACHE/v1/files/KEY/NAME.part   locked by the process that is making the entry
///
/// Files that were opened since the oldest living client began stay. Of the others, the one that was opened longest ago
/// goes first. If a process holds the lock for long, for instance because it was stopped, the others keep nothing
/// meanwhile. Any thread.
class CacheFolder {
 public:
  /// Makes the folder if it is missing. Removes what dead processes left unfinished, and what is above the bound.
  /// @throws Error(io | not_found); Error(invalid_argument) if the folder has other files.
  CacheFolder(const std::string& folder, std::uint64_t most_bytes);
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  ~CacheFolder();

  /// Returns the absolute path of the folder.
  const std::string& path() const noexcept { return path_; }
  /// Returns the folder of a file's entries.
  std::string folder_of(const CacheKey& file) const { return files_ + "/" + file.text(); }
  /// Makes the folder of a file's entries. Returns false if that is impossible.
  bool make_folder(const CacheKey& file) const noexcept;
  /// Says that a client has opened the file now.
  void use(const CacheKey& file) const noexcept;
  /// Makes room for a file, and sets its size. `by_others`: whether entries of files that are in use may go for it,
  /// except notes. Returns 0, or the system's error code.
  int reserve(const std::string& path, std::uint64_t bytes, bool by_others);
  static constexpr int no_room = -1;  ///< result of `reserve`: there is no room within the bound
  /// Gives a complete entry its name. Returns 0, or the system's error code.
  int publish(const std::string& part, const std::string& path) noexcept;
  /// Removes a file if it is still the one with this inode.
  void remove(const std::string& path, std::uint64_t inode) noexcept;

  static constexpr std::uint64_t own_bytes = 1024;  ///< more than the files have that are not entries
  static constexpr std::string_view part_ending = ".part", note_beginning = "note-";

 private:
  class Locked;
  struct Kept;  // the entries of one file

  void make();
  void begin_client();
  bool is_own_lock() const noexcept;
  std::uint64_t count_and_sweep();
  std::uint64_t bytes() const noexcept;
  void set_bytes(std::uint64_t bytes) const noexcept;
  enum class Evict : std::uint8_t { unused, notes_stay, all };
  bool make_room(std::uint64_t bytes, Evict which);
  std::vector<Kept> kept_files() const;
  std::int64_t oldest_client() const;
  std::uint64_t remove_entries(const std::string& folder, Evict which, std::uint64_t wanted) const noexcept;

  const std::string path_, root_, files_, clients_;
  const std::uint64_t most_bytes_;
  std::mutex mutex_;  // a lock of the file does not keep out the threads of one process
  std::optional<FileDescriptor> lock_;
  FileLock alive_;
  std::string own_;
  const int process_;
  std::int64_t full_until_ = 0;   // no file can be evicted before
  std::int64_t stuck_until_ = 0;  // the lock is not tried before
};

/// Returns the folder for caches of this user: `$XDG_CACHE_HOME/penstock`, or `$HOME/.cache/penstock`.
/// @throws Error(invalid_argument) if neither variable is set.
std::string default_cache_folder();

}  // namespace penstock::remote
