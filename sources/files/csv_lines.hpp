#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::files {

struct CsvLine {
  std::size_t number = 0;  ///< number of its first line in the file, from 1
  std::vector<std::string> cells;
};

/// What may stand around a cell, and is no part of it.
constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

/// Comma-separated values: cells may be in double quotes, in which a quote is written twice, and commas, line ends and
/// spaces stand for themselves. Lines end in LF or CRLF; a byte order mark and empty lines are skipped.
/// @throws Error(corrupt) with the line.
std::vector<CsvLine> parse_csv(std::string_view text);

}  // namespace penstock::files
