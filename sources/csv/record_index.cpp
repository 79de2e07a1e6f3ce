// SPDX-License-Identifier: Apache-2.0
#include "record_index.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "cell_scanner.hpp"
#include "common/tables/text_lines.hpp"
#include "errors.hpp"

namespace penstock::csv {

namespace {

constexpr std::size_t first_window = std::size_t{4} << 20;

class Indexer {
 public:
  Indexer(const std::string& path, char delimiter, bool header, std::size_t max_record_bytes)
      : path_(path),
        delimiter_(delimiter),
        header_(header),
        max_record_bytes_(max_record_bytes),
        file_(path, source_name) {
    index_.mark = file_.mark();
    XXH3_64bits_reset(&hash_);
  }

  RecordIndex run() {
    fill();
    skip_mark();
    while (!rest().empty() || more()) {
      if (rest().empty()) {
        fill();
      } else if (!skip_empty_line() && !take_record()) {
        grow();
      }
    }
    index_.hash = XXH3_64bits_digest(&hash_);
    index_.begins.shrink_to_fit();
    return std::move(index_);
  }

 private:
  std::string_view rest() const { return {window_.data() + at_, filled_ - at_}; }
  bool more() const { return window_begin_ + filled_ < index_.mark.bytes; }
  std::uint64_t offset() const { return window_begin_ + at_; }

  // Moves the window to the beginning of the current record, and reads until the window has `wanted_` bytes or the file
  // ends.
  void fill() {
    const std::size_t had = filled_ - at_;
    const std::uint64_t left = index_.mark.bytes - window_begin_ - filled_;
    const auto got = static_cast<std::size_t>(std::min<std::uint64_t>(left, wanted_ - had));
    if (window_.size() < had + got + CellScanner::slack) window_.resize(had + got + CellScanner::slack);
    std::memmove(window_.data(), window_.data() + at_, had);
    window_begin_ += std::exchange(at_, 0);
    filled_ = had + got;
    file_.read(window_.data() + had, got, window_begin_ + had);
    XXH3_64bits_update(&hash_, window_.data() + had, got);
    quote_known_ = false;
  }
  void grow() {
    if (rest().size() > max_record_bytes_) {
      throw error_in(path_, Errc::limit_exceeded,
                     "the record that begins in line " + std::to_string(line_) +
                         " is longer than `max_record_bytes` = " + std::to_string(max_record_bytes_) +
                         "; is a quote never closed, or does the file have no lines?",
                     offset());
    }
    if (rest().size() == wanted_) wanted_ *= 2;
    fill();
  }

  void skip_mark() {
    const std::string_view text = rest();
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
      throw error_in(path_, Errc::unsupported, "the file is UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)", 0);
    if (text.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  bool skip_empty_line() {
    const std::string_view text = rest();
    const std::size_t skipped = text.starts_with('\n') ? 1 : text.starts_with("\r\n") || text == "\r" ? 2 : 0;
    if (skipped == 0 || (text == "\r" && more())) return false;
    at_ += std::min(skipped, text.size());
    ++line_;
    return true;
  }

  // Returns false if the window ends before the record does, and the file has more bytes.
  bool take_record() {
    const std::string_view text = rest();
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos && more()) return false;
    const std::string_view line = text.substr(0, newline);
    const bool names = index_.columns.empty();
    if (delimiter_ == 0) delimiter_ = header_ ? common::separator_of(text) : ',';
    std::size_t bytes = newline == std::string_view::npos ? text.size() : newline + 1;
    std::uint64_t lines = 1;
    if (names || has_quote(line)) {
      const std::size_t scanned = scan(text, names);
      if (scanned == 0) return false;
      bytes = scanned;
      lines =
          static_cast<std::uint64_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bytes), '\n'));
    }
    if (bytes > max_record_bytes_ + 2) {
      throw error_in(path_, Errc::limit_exceeded,
                     "the record that begins in line " + std::to_string(line_) + " has " + std::to_string(bytes) +
                         " bytes, more than `max_record_bytes` = " + std::to_string(max_record_bytes_),
                     offset());
    }
    if (!(names && header_)) index_.add(offset(), line_);
    at_ += bytes;
    line_ += lines;
    return true;
  }

  // Only quotes can hide a line's end. Most files of numbers have no quotes, so the position of the next quote is kept.
  bool has_quote(std::string_view line) {
    if (!quote_known_ || quote_ < at_)
      quote_ = std::min(std::string_view(window_.data(), filled_).find('"', at_), filled_);
    quote_known_ = true;
    return quote_ < at_ + line.size();
  }

  // Returns the record's length in bytes, or 0 if more of the file is needed to find the record's end.
  std::size_t scan(std::string_view text, bool names) {
    CellScanner cells(text, delimiter_);
    std::vector<std::string> found;
    Cell cell;
    for (;;) {
      switch (cells.next(cell)) {
        case CellScanner::Result::cell:
          if (names) found.push_back(cell.text());
          break;
        case CellScanner::Result::end:
          if (!cells.line_ended() && more()) return 0;
          if (names) name_columns(std::move(found));
          return cells.at();
        case CellScanner::Result::unclosed:
          if (more()) return 0;
          throw error_in(path_, Errc::corrupt,
                         "a quote in the record that begins in line " + std::to_string(line_) + " is never closed",
                         offset() + cell.offset);
        case CellScanner::Result::text_after:
          throw error_in(path_, Errc::corrupt,
                         "in the record that begins in line " + std::to_string(line_) +
                             " text follows a closing quote; a quote inside of quotes is written twice",
                         offset() + cells.at());
      }
    }
  }

  void name_columns(std::vector<std::string> cells) {
    index_.delimiter = delimiter_;
    if (cells.size() == 1)
      if (const char other = common::separator_of(cells[0]);
          other != delimiter_ && cells[0].find(other) != cells[0].npos)
        index_.likely_delimiter = other;
    if (!header_)
      for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = std::to_string(i);
    index_.columns = std::move(cells);
  }

  const std::string& path_;
  char delimiter_;
  bool header_;
  std::size_t max_record_bytes_;
  common::InputFile file_;
  RecordIndex index_;
  XXH3_state_t hash_;
  std::string window_;  // bytes of the file from window_begin_ on; only the first filled_ are valid
  std::uint64_t window_begin_ = 0;
  std::size_t wanted_ = first_window, filled_ = 0, at_ = 0;
  std::size_t quote_ = 0;  // the first quote at or after at_, or filled_ if there is none; outdated if it is before at_
  bool quote_known_ = false;
  std::uint64_t line_ = 1;
};

}  // namespace

RecordIndex index_records(const std::string& path, char delimiter, bool header, std::size_t max_record_bytes) {
  return std::make_unique<Indexer>(path, delimiter, header, max_record_bytes)->run();
}

}  // namespace penstock::csv
