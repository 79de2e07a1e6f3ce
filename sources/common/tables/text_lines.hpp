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

/// How many cells lines have.
enum class Cells : std::uint8_t {
  same,  ///< each line as many as the first
  any    ///< two at least
};

struct TextLines {
  char separator = ',';
  std::vector<TextLine> lines;
};

/// What may stand around a cell, and is no part of it.
constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }
/// Without it.
std::string_view trimmed(std::string_view text) noexcept;

/// What stands between the cells of a text's first line: outside of quotes a comma, else a semicolon, else a tab; a
/// comma where there is none of them.
char separator_of(std::string_view text);

/// The lines of a table of text, by the rules of all tables that say something of other data. Cells may be in double
/// quotes, in which a quote is written twice, and separators, line ends and spaces stand for themselves. Around cells
/// there may be spaces and tabs. Lines end in LF or CRLF; a byte order mark and empty lines are skipped. There are no
/// comments. `separator` 0: what the first line that isn't blank has outside of quotes: a comma, else a semicolon, else
/// a tab. Where it has several, and by the first of them the first 100 lines have not the `cells` they should, the next
/// by which all have the same number, two at least. Takes time as the text is long. @throws Error(corrupt) with the
/// line, Error(unsupported) for UTF-16; without a file.
TextLines parse_lines(std::string_view text, Cells cells, char separator = 0);

/// The same number with a point, where the text is one with a comma: "0.5" of "0,5"; else empty. Where no comma stands
/// between cells, programs write numbers so.
std::string with_point(std::string_view text);

/// Those of a file; its separator is a tab where its name ends in .tsv or .tab. @throws the same, Error(not_found | io)
/// and Error(limit_exceeded) above 4 GiB, with the file and `source`.
TextLines read_lines(const std::string& file, std::string_view source, Cells cells);

}  // namespace penstock::common
