// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::common {

struct TextLine {
  /// The line's number in the file, from 1. If cells in quotes have line ends, the line takes several numbers; this is
  /// the first.
  std::size_t number = 0;
  std::vector<std::string> cells;
};

/// How many cells lines should have. This helps to choose the separator. Lines that have more or fewer cells are parsed
/// all the same.
enum class CellCountRule : std::uint8_t {
  same,  ///< every line should have as many as the first line, and at least two
  any    ///< every line should have at least two
};

struct ParsedLines {
  char separator = ',';
  std::vector<TextLine> lines;
};

/// Returns whether `c` is a space or a tab. These characters may surround a cell and are not part of it.
constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }
/// Returns the text without spaces and tabs at its ends.
inline std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns the separator of a text's first line: a comma if the line has one outside of quotes, else a semicolon, else
/// a tab. Returns a comma if the line has none of the three.
char separator_of(std::string_view text);

/// Parses the lines of a table that describes other data; all these tables have the same rules. Cells may be in double
/// quotes. Inside quotes, a quote is written twice, and separators, line ends and spaces are part of the cell. Spaces
/// and tabs around cells are skipped. Lines end in LF or CRLF; a byte order mark and empty lines are skipped. No line
/// is a comment.
/// `separator` 0: a comma if the first line that isn't blank has one outside of quotes, else a semicolon, else a tab.
/// If that line has several of these characters, the first of them in this order is tried on up to 100 lines. If those
/// lines then don't have the number of cells that `cells` asks for, the next character is used that gives them equally
/// many cells, at least two. If no character does, the first is used. Takes time proportional to the text's length.
/// @throws Error(corrupt) with the line, or Error(unsupported) for UTF-16. Neither names a file.
ParsedLines parse_lines(std::string_view text, CellCountRule cells, char separator = 0);

/// Returns a number with a comma as a number with a point: "0.5" for "0,5". Returns an empty string for other texts.
/// Some programs write numbers with a comma into tables whose cells are not separated by commas.
std::string with_point(std::string_view text);

/// Reads the lines of a file. The separator is a tab if the file's name ends in .tsv or .tab.
/// @throws what `parse_lines` throws, Error(not_found | io), and Error(limit_exceeded) if the file has more than 4 GiB;
/// all with the file and `source`.
ParsedLines read_lines(const std::string& file, std::string_view source, CellCountRule cells);

}  // namespace penstock::common
