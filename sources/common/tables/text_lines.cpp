// SPDX-License-Identifier: Apache-2.0
#include "common/tables/text_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/listing.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

namespace penstock::common {

namespace {

class LineParser {
 public:
  LineParser(std::string_view text, char separator) : text_(text), separator_(separator) {
    if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff"))
      throw Error(Errc::unsupported, "the file is UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
    const std::size_t begin = std::min(text_.find_first_not_of(" \t\r\n"), text_.size());
    const std::size_t end = text_.substr(0, begin).find_last_of("\r\n");
    if (end == std::string_view::npos) return;
    at_ = end + 1;
    line_ +=
        static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  }

  std::string_view rest() const noexcept { return text_.substr(at_); }

  ParsedLines parse(std::size_t most = ~std::size_t{0}) {
    std::vector<TextLine> lines;
    while (at_ < text_.size() && lines.size() < most) {
      TextLine line;
      line.number = line_;
      do line.cells.push_back(cell());
      while (take(separator_));
      end_line();
      if (line.cells.size() > 1 || !line.cells[0].empty()) lines.push_back(std::move(line));
    }
    return {separator_, std::move(lines)};
  }

 private:
  [[noreturn]] void refuse(std::size_t line, const std::string& why) const {
    throw Error(Errc::corrupt, "line " + std::to_string(line) + ": " + why);
  }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void end_line() {
    const bool carriage = take('\r');
    if (!take('\n') && at_ != text_.size())
      refuse(line_, text_.find('\n') == std::string_view::npos && carriage
                        ? "its lines end in CR alone: save it with LF or CRLF"
                        : "there is text after a closing quote, or a stray carriage return");
    ++line_;
  }
  bool is_around(char c) const noexcept { return is_space(c) && c != separator_; }
  void skip_spaces() {
    while (at_ < text_.size() && is_around(text_[at_])) ++at_;
  }
  std::string cell() {
    skip_spaces();
    if (take('"')) {
      std::string value = quoted();
      skip_spaces();
      return value;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
    std::string_view value = text_.substr(begin, at_ - begin);
    while (!value.empty() && is_space(value.back())) value.remove_suffix(1);
    return std::string(value);
  }
  std::string quoted() {
    const std::size_t opened = line_;
    std::string value;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"' && !take('"')) return value;
      if (c == '\n') ++line_;
      value += c;
    }
    refuse(opened, "a quote is never closed");
  }

  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

// Returns the separators that the first line has outside of quotes, the likeliest first.
std::string separators_in(std::string_view text) {
  const std::string_view line = trimmed(text.substr(0, text.find_first_of("\r\n")));
  std::string found;
  for (const char separator : {',', ';', '\t'}) {
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (quoted || c != separator) continue;
      found += separator;
      break;
    }
  }
  return found;
}

// The smallest and the largest number of cells in one of the first lines. Both are 0 if these lines can't be parsed
// with the separator.
struct CellCounts {
  std::size_t least = 0, most = 0;
};
CellCounts count_cells(std::string_view text, char separator) {
  constexpr std::size_t some_lines = 100;
  CellCounts counts;
  try {
    for (const TextLine& line : LineParser(text, separator).parse(some_lines).lines) {
      counts.least = counts.most == 0 ? line.cells.size() : std::min(counts.least, line.cells.size());
      counts.most = std::max(counts.most, line.cells.size());
    }
  } catch (const Error&) {
    return {};
  }
  return counts;
}

// Returns the likeliest separator. If the first lines then don't have the number of cells that `cells` asks for,
// returns the next separator that gives these lines equally many cells, if there is one.
char table_separator(std::string_view text, CellCountRule cells) {
  const std::string found = separators_in(text);
  if (found.empty()) return ',';
  if (found.size() == 1) return found.front();
  const CellCounts likeliest = count_cells(text, found.front());
  if (likeliest.least > 1 && (cells == CellCountRule::any || likeliest.least == likeliest.most)) return found.front();
  for (const char other : found.substr(1))
    if (const CellCounts counts = count_cells(text, other); counts.least > 1 && counts.least == counts.most)
      return other;
  return found.front();
}

}  // namespace

char separator_of(std::string_view text) {
  const std::string found = separators_in(text);
  return found.empty() ? ',' : found.front();
}

std::string with_point(std::string_view text) {
  std::string other(text);
  const std::size_t comma = other.find(',');
  if (comma == std::string::npos) return {};
  other[comma] = '.';
  double value = 0;
  const std::size_t sign = other.starts_with('+') && !other.starts_with("+-") ? 1 : 0;
  const char* const last = other.data() + other.size();
  const auto [end, failed] = std::from_chars(other.data() + sign, last, value);
  return end == last && failed != std::errc::invalid_argument ? other : std::string();
}

ParsedLines parse_lines(std::string_view text, CellCountRule cells, char separator) {
  if (separator == 0) separator = table_separator(LineParser(text, separator).rest(), cells);
  return LineParser(text, separator).parse();
}

ParsedLines read_lines(const std::string& file, std::string_view source, CellCountRule cells) {
  constexpr std::uint64_t most_bytes = std::uint64_t{4} << 30;
  const std::optional<std::string> text = read_text(file, source, most_bytes);
  if (!text) throw system_error(source, ENOENT, "reading the table", file);
  try {
    return parse_lines(*text, cells, has_ending(file, ".tsv") || has_ending(file, ".tab") ? '\t' : '\0');
  } catch (Error& error) {
    throw error.with_source(source).with_file(file);
  }
}

}  // namespace penstock::common
