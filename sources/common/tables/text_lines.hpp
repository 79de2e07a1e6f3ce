// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::common {

struct TextLine {
  std::size_t number = 0;  ///< number of its first line in the file, from 1
  std::vector<std::string> cells;
};

/// How many cells lines must have.
enum class Cells : std::uint8_t {
  same,  ///< every line the same number as the first
  any    ///< at least two
};

struct TextLines {
  char separator = ',';
  std::vector<TextLine> lines;
};

/// Characters that may surround a cell and are not part of it.
constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }
/// Returns the text without them.
std::string_view trimmed(std::string_view text) noexcept;

/// Returns the separator of a text's first line, outside of quotes: a comma, else a semicolon, else a tab; a comma if
/// it has none of them.
char separator_of(std::string_view text);

/// Parses the lines of a text table, by the rules of all tables that describe other data. Cells may be in double
/// quotes. Inside, a quote is written twice, and separators, line ends and spaces are part of the cell. Around cells
/// there may be spaces and tabs. Lines end in LF or CRLF; a byte order mark and empty lines are skipped. There are no
/// comments.
/// `separator` 0: the separator of the first line that isn't blank, outside of quotes: a comma, else a semicolon, else
/// a tab. If that line has several of these, the first 100 lines are tried. If the first separator does not give the
/// `cells` required, the next one is used that gives all lines the same number, at least two.
/// Takes time proportional to the text's length. @throws Error(corrupt) with the line, Error(unsupported) for UTF-16;
/// without a file.
TextLines parse_lines(std::string_view text, Cells cells, char separator = 0);

/// Returns a number with a comma as a number with a point: "0.5" for "0,5"; else empty. Programs write such numbers if
/// commas don't separate cells.
std::string with_point(std::string_view text);

/// Reads the lines of a file. The separator is a tab if its name ends in .tsv or .tab.
/// @throws what `parse_lines` throws, Error(not_found | io), and Error(limit_exceeded) above 4 GiB; with the file and
/// `source`.
TextLines read_lines(const std::string& file, std::string_view source, Cells cells);

}  // namespace penstock::common
