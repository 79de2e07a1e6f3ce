// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/lines/line_index.hpp"

namespace penstock::csv {

/// Where the records of one file begin, and the names of the file's columns.
struct RecordIndex : common::LineIndex {
  char delimiter = ',';
  /// Another delimiter that the first line has, if `delimiter` leaves that line as one cell. Otherwise 0.
  char likely_delimiter = 0;
  std::vector<std::string> columns;  ///< column names from the header, or "0", "1", …
};

/// Reads a file once, a few MB at a time. `delimiter` 0: with a header, the delimiter that `common::separator_of` finds
/// in the header; without a header, ','. @throws the Errors of CsvSource, with the file.
RecordIndex index_records(const std::string& path, char delimiter, bool header, std::size_t max_record_bytes);

}  // namespace penstock::csv
