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

/// Comma-separated values: cells may be in double quotes, in which a quote is written twice and commas and line ends
/// stand for themselves. Spaces and tabs around cells are no part of them, but in quotes. LF or CRLF; a byte order mark and empty lines are skipped. @throws Error(corrupt) with the
/// line.
std::vector<CsvLine> parse_csv(std::string_view text);

}  // namespace penstock::files
