// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::common {

/// A table with a header, read by `read_lines`. It has the cells column by column, without spaces at the ends of cells.
/// The spaces are removed even inside quotes, because some programs pad columns and then quote them. The header has as
/// many cells as other lines. A cell of the header may be empty, as it often is above an index. A column without a name
/// can't be read by name.
class TextTable {
 public:
  /// Errors name `source`. @throws what `read_lines` throws, and Error(corrupt) if a line has more or fewer cells than
  /// the header.
  TextTable(std::string file, std::string_view source);

  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;
  char separator = ',';            ///< separates cells
  std::vector<std::string> where;  ///< where each line is, for errors: "cohort.csv:00000017"

  std::size_t lines() const noexcept { return where.size(); }
  const std::string& file() const noexcept { return file_; }
  /// Returns the index of the column of that name. @throws Error(invalid_argument) if no column, or more than one, has
  /// the name.
  std::size_t find(const std::string& column) const;
  /// Returns the likely reason why nothing is found in the table: that it has no lines after the header. Returns
  /// "" if it has some.
  std::string likely_cause() const;
  /// Returns an Error(invalid_argument) with the file and `source`.
  Error error(std::string why) const;

 private:
  std::string file_, source_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

}  // namespace penstock::common
