// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>

namespace penstock::files {

/// Reads the first cell of each line of a table, in memory that does not grow with the table. Removes quotes around a
/// cell. Line ends inside quotes don't end the line. One thread at a time.
class TableLines {
 public:
  /// Starts at byte `begin`, where a line begins. A missing file has no lines. @throws Error(io).
  TableLines(std::string file, std::uint64_t begin);

  /// Goes to the next line. Returns false if no complete line is left. If the file was cut off, its last line is not
  /// complete. @throws Error(io).
  bool next();
  /// Returns the line's first cell, cut off after 16 KiB. Files' names are shorter.
  const std::string& first_cell() const noexcept { return cell_; }
  /// Returns the offset of the byte after the line.
  std::uint64_t end() const noexcept { return end_; }

 private:
  bool fill();

  const std::string file_;
  FileDescriptor open_;
  std::uint64_t end_;
  std::uint64_t read_;  // how far the file is read, in bytes from its beginning
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
  std::string cell_;
};

}  // namespace penstock::files
