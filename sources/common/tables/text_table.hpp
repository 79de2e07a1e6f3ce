#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <penstock/error.hpp>

namespace penstock::common {

/// A table with a header, as `read_lines` reads it: its cells, column by column, without spaces at their ends, in
/// quotes either: programs write padded columns so. The header is read as a line like others: a column without a name,
/// as an index may be, is none to read by name.
class TextTable {
 public:
  /// Errors are those of `source`. @throws as `read_lines`, and Error(corrupt) for a line of more or fewer cells.
  TextTable(std::string file, std::string_view source);

  std::vector<std::string> names;
  std::vector<std::vector<std::string>> columns;
  char separator = ',';            ///< stands between cells
  std::vector<std::string> where;  ///< each line stands, for errors: "cohort.csv:00000017"

  std::size_t lines() const noexcept { return where.size(); }
  const std::string& file() const noexcept { return file_; }
  /// @throws Error(invalid_argument) where there is none of that name, or two.
  std::size_t find(const std::string& column) const;
  /// Why nothing can be found in it, "" where nothing tells: it has no lines.
  std::string likely_cause() const;
  /// Error(invalid_argument).
  Error error(std::string why) const;

 private:
  std::string file_, source_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_name_;
};

}  // namespace penstock::common
