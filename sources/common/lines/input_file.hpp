// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/file_map.hpp"

namespace penstock::common {

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
  /// `source`: the source's name for errors, which must outlive the object. @throws Error(not_found | io), with the
  /// file.
  InputFile(const std::string& path, std::string_view source);
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
  std::string_view source_;
  int descriptor_ = -1;
  FileMark mark_;
};

/// A text file mapped into memory.
class TextMap {
 public:
  /// @throws Error(not_found | io); Error(io) also if the file is not the one that `mark` identifies, or has another
  /// size.
  TextMap(const std::string& path, const FileMark& mark, std::string_view source);

  std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(map_.bytes().data()), map_.bytes().size()};
  }

 private:
  FileMap map_;
};

}  // namespace penstock::common
