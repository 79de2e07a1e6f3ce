// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/file_map.hpp"

namespace penstock::csv {

/// Identifies a file, together with the size that it had when it was opened.
struct FileMark {
  std::uint64_t bytes = 0;
  ino_t inode = 0;
  dev_t device = 0;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

/// A regular file, open for reading.
class InputFile {
 public:
  /// @throws Error(not_found | io), with the file.
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const FileMark& mark() const noexcept { return mark_; }
  int descriptor() const noexcept { return descriptor_; }
  /// Reads exactly `bytes` bytes. @throws Error(io), also if the file ends earlier.
  void read(char* to, std::size_t bytes, std::uint64_t offset) const;
  /// @throws Error(io) if the file is not the one that `mark` identifies, or has another size.
  void require(const FileMark& mark) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  FileMark mark_;
};

/// A table mapped into memory.
class TableMap {
 public:
  /// @throws Error(not_found | io); Error(io) also if the file is not the one that `mark` identifies, or has another
  /// size.
  TableMap(const std::string& path, const FileMark& mark);

  std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(map_.bytes().data()), map_.bytes().size()};
  }

 private:
  common::FileMap map_;
};

}  // namespace penstock::csv
