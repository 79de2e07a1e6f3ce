// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace penstock::lmdb {

/// Where the parts of a store are.
struct StoreFiles {
  std::string path;          ///< the path for LMDB
  std::string data;          ///< the data file
  std::string lock;          ///< LMDB's lock file, which coordinates readers and writers
  std::string unfinished;    ///< exists while the store is made, and while raw records are written: a manifest
  std::string made_by;       ///< what made a finished store of raw records: a manifest
  bool single_file = false;  ///< `path` is the data file itself
};

/// Returns the files of an existing store, of either layout. @throws Error(not_found | io).
StoreFiles find_store(const std::string& path);
/// Returns the files of a store that is to be written.
StoreFiles place_store(const std::string& path, bool single_file);

struct FileId {
  std::uint64_t device = 0, inode = 0;
  friend auto operator<=>(const FileId&, const FileId&) = default;
};
struct FileFacts {
  FileId id;
  std::uint64_t bytes = 0;
};
/// Returns what identifies a file; nothing if it does not exist. @throws Error(io).
std::optional<FileFacts> facts_of(const std::string& file);

/// Returns the size of what LMDB writes first. A shorter data file is from a process that was killed while writing
/// that, and holds nothing.
std::uint64_t header_bytes() noexcept;
/// Returns whether a data file is missing or empty. A store that is marked as unfinished also holds nothing if its
/// header is incomplete: LMDB did not finish it, or it never reached the disk. @throws Error(io).
bool holds_nothing(const StoreFiles& files);

}  // namespace penstock::lmdb
