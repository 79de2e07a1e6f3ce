#include "csv_lines.hpp"

#include <utility>

#include <penstock/error.hpp>

namespace penstock::files {

namespace {

[[noreturn]] void refuse(std::size_t line, const char* why) {
  throw Error(Errc::corrupt, "line " + std::to_string(line) + ": " + why);
}

class CsvParser {
 public:
  explicit CsvParser(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  std::vector<CsvLine> parse() {
    std::vector<CsvLine> lines;
    while (at_ < text_.size()) {
      CsvLine line;
      line.number = line_;
      do line.cells.push_back(cell());
      while (take(','));
      end_line();
      if (line.cells.size() > 1 || !line.cells[0].empty()) lines.push_back(std::move(line));
    }
    return lines;
  }

 private:
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void end_line() {
    take('\r');
    if (!take('\n') && at_ != text_.size())
      refuse(line_, "there is text after a closing quote, or a stray carriage return");
    ++line_;
  }
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  std::string cell() {
    skip_spaces();
    if (take('"')) {
      std::string value = quoted();
      skip_spaces();
      return value;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
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
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

std::vector<CsvLine> parse_csv(std::string_view text) { return CsvParser(text).parse(); }

}  // namespace penstock::files
