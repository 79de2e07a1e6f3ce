// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace penstock::lmdb {

/// Where the parts of a store are.
struct StoreFiles {
  std::string path;          ///< the path that LMDB opens
  std::string data;          ///< the data file
  std::string lock;          ///< LMDB's lock file, which coordinates readers and writers
  std::string unfinished;    ///< a manifest; exists while the store is being created, and while raw records are written
  std::string made_by;       ///< a manifest that records what made a finished store of raw records
  bool single_file = false;  ///< whether `path` is the data file itself
};

/// Returns the files of an existing store, which is a folder or a single file. @throws Error(not_found | io |
/// invalid_argument).
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
/// Returns a file's identity and size; nothing if the file does not exist. @throws Error(io).
std::optional<FileFacts> facts_of(const std::string& file);

/// Returns the size of LMDB's header in bytes. LMDB writes the header first. If a data file is shorter, a process was
/// killed while it wrote the header, and the file holds nothing.
std::uint64_t header_bytes() noexcept;
/// Returns whether a store holds nothing: its data file is missing or empty. A store that is marked as unfinished also
/// holds nothing if its header is incomplete, or is all zeros because it never reached the disk. @throws Error(io).
bool holds_nothing(const StoreFiles& files);

}  // namespace penstock::lmdb
