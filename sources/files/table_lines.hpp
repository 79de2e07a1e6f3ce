#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/extend/file_descriptor.hpp>

namespace penstock::files {

/// The first cells of a table's lines, one after the other, in memory that does not grow with the table. Quotes are
/// resolved, and line ends in them are no line's end. One thread at a time.
class TableLines {
 public:
  /// From the byte `begin` on, where a line begins. A file that is missing has no lines. @throws Error(io).
  TableLines(std::string file, std::uint64_t begin);

  /// Goes to the next line. False where there is none that is whole, as the last one of a file that was cut off.
  /// @throws Error(io).
  bool next();
  /// The line's first cell; cut off after 16 KiB, which is longer than names can be.
  const std::string& first_cell() const noexcept { return cell_; }
  /// The byte after the line.
  std::uint64_t end() const noexcept { return end_; }

 private:
  bool fill();

  const std::string file_;
  FileDescriptor open_;
  std::uint64_t end_;
  std::uint64_t read_;  // bytes of the file, those before `begin` included
  std::vector<char> buffer_;
  std::size_t at_ = 0, filled_ = 0;
  std::string cell_;
};

}  // namespace penstock::files
