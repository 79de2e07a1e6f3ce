// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/lines/input_file.hpp"
#include "common/lines/record_offsets.hpp"

namespace penstock::common {

/// Where the records of one text file begin.
struct LineIndex {
  FileMark mark;
  std::uint64_t hash = 0;  ///< hash of the file's content
  RecordOffsets begins;    ///< where each record begins
  /// From `record` on, record r begins in line r + `lines_before`. A new entry begins where `lines_before` changes.
  struct LineStep {
    std::uint64_t record, lines_before;
  };
  std::vector<LineStep> line_steps;
  /// Length in bytes of the longest record, with the end of its line. Blank lines after a record are beyond it.
  std::uint64_t max_bytes = ~std::uint64_t{0};

  /// Returns the number, from 1, of the record's first line.
  std::uint64_t line(std::uint64_t record) const noexcept {
    const auto after = std::upper_bound(line_steps.begin(), line_steps.end(), record,
                                        [](std::uint64_t r, const LineStep& step) { return r < step.record; });
    return record + (after - 1)->lines_before;
  }
  /// Returns the number of bytes from the record's beginning to the next record's beginning, or to the file's end; at
  /// most `max_bytes`.
  std::size_t bytes(std::uint64_t record) const noexcept {
    const std::uint64_t end = record + 1 < begins.size() ? begins[record + 1] : mark.bytes;
    return static_cast<std::size_t>(std::min(end - begins[record], max_bytes));
  }
  /// Adds a record that begins at `offset` in line `line`.
  void add(std::uint64_t offset, std::uint64_t line) {
    const std::uint64_t record = begins.size(), before = line - record;
    if (line_steps.empty() || line_steps.back().lines_before != before) line_steps.push_back({record, before});
    begins.push_back(offset);
  }
};

}  // namespace penstock::common
