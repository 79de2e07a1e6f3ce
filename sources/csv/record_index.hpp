// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "input_file.hpp"
#include "record_offsets.hpp"

namespace penstock::csv {

/// Where the records of one file begin, and the names of the file's columns.
struct RecordIndex {
  FileMark mark;
  char delimiter = ',';
  /// Another delimiter that the first line has, if `delimiter` leaves that line as one cell. Otherwise 0.
  char likely_delimiter = 0;
  std::uint64_t hash = 0;            ///< hash of the file's content
  std::vector<std::string> columns;  ///< column names from the header, or "0", "1", …
  RecordOffsets begins;              ///< where each record begins
  /// From `record` on, record r begins in line r + `lines_before`. A new entry begins where `lines_before` changes.
  struct LineStep {
    std::uint64_t record, lines_before;
  };
  std::vector<LineStep> line_steps;

  std::uint64_t line(std::uint64_t record) const noexcept;
  /// Returns the number of bytes from the record's beginning to the next record's beginning, or to the file's end.
  std::size_t bytes(std::uint64_t record) const noexcept {
    const std::uint64_t end = record + 1 < begins.size() ? begins[record + 1] : mark.bytes;
    return static_cast<std::size_t>(end - begins[record]);
  }
};

/// Reads a file once, a few MB at a time. `delimiter` 0: with a header, the delimiter that `common::separator_of` finds
/// in the header; without a header, ','. @throws the Errors of CsvSource, with the file.
RecordIndex index_records(const std::string& path, char delimiter, bool header, std::size_t max_record_bytes);

}  // namespace penstock::csv
