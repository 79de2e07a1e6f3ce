#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace penstock::lmdb {

/// Where the parts of a store lie.
struct StoreFiles {
  std::string path;          ///< what LMDB is given
  std::string data;          ///< the data file
  std::string lock;          ///< LMDB's lock file, for readers and writers to agree
  std::string unfinished;    ///< there while the store is made, and while raw records are written: a manifest
  std::string made_by;       ///< what made a finished store of raw records: a manifest
  bool single_file = false;  ///< `path` is the data file itself
};

/// Files of a store that is there, of either layout. @throws Error(not_found | io).
StoreFiles find_store(const std::string& path);
/// Files of a store that is to be written.
StoreFiles place_store(const std::string& path, bool single_file);

struct FileId {
  std::uint64_t device = 0, inode = 0;
  friend auto operator<=>(const FileId&, const FileId&) = default;
};
struct FileFacts {
  FileId id;
  std::uint64_t bytes = 0;
};
/// What tells one file from others; nothing where there is no such file. @throws Error(io).
std::optional<FileFacts> facts_of(const std::string& file);

/// What LMDB writes first: a data file that is shorter was left by a process that was killed at that, and holds
/// nothing.
std::uint64_t header_bytes() noexcept;
/// Whether a data file is missing, empty, or, of a store that is marked as unfinished, without a whole header: LMDB did
/// not end it, or it never reached the disk. @throws Error(io).
bool holds_nothing(const StoreFiles& files);

}  // namespace penstock::lmdb
