// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::common {

/// A table with a header, as `read_lines` reads it: its cells, column by column, without spaces at their ends. Spaces
/// inside quotes are removed as well, because programs write padded columns like that. The header is a line like the
/// others; a column without a name, such as an index, can't be read by name.
class TextTable {
 public:
  /// Errors name `source`. @throws like `read_lines`, and Error(corrupt) if a line has more or fewer cells.
  TextTable(std::string file, std::string_view source);

  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;
  char separator = ',';            ///< separates cells
  std::vector<std::string> where;  ///< where each line is, for errors: "cohort.csv:00000017"

  std::size_t lines() const noexcept { return where.size(); }
  const std::string& file() const noexcept { return file_; }
  /// @throws Error(invalid_argument) if no column, or more than one, has that name.
  std::size_t find(const std::string& column) const;
  /// Returns the likely reason why nothing is found in it, for example that it has no lines; "" if none is known.
  std::string likely_cause() const;
  /// Returns an Error(invalid_argument).
  Error error(std::string why) const;

 private:
  std::string file_, source_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

}  // namespace penstock::common
