// SPDX-License-Identifier: Apache-2.0
#include "line_scan.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "errors.hpp"

namespace penstock::json {

namespace {

constexpr std::size_t window_bytes = std::size_t{4} << 20;

class LineScan {
 public:
  LineScan(const std::string& path, std::size_t max_record_bytes)
      : path_(path), max_record_bytes_(max_record_bytes), file_(path, source_name) {
    index_.mark = file_.mark();
    index_.max_bytes = std::min<std::uint64_t>(max_record_bytes, ~std::uint64_t{0} - 1) + 1;
    XXH3_64bits_reset(&hash_);
  }

  common::LineIndex run() {
    std::string window;
    for (std::uint64_t begin = 0; begin < index_.mark.bytes; begin += window.size()) {
      window.resize(static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, index_.mark.bytes - begin)));
      file_.read(window.data(), window.size(), begin);
      XXH3_64bits_update(&hash_, window.data(), window.size());
      std::string_view text = window;
      if (begin == 0) text.remove_prefix(line_begin_ = mark_bytes(text));
      look_at(text, begin + (window.size() - text.size()));
    }
    end_line(index_.mark.bytes);
    index_.hash = XXH3_64bits_digest(&hash_);
    index_.begins.shrink_to_fit();
    return std::move(index_);
  }

 private:
  // Returns the length of the byte order mark. @throws Error(unsupported) for that of UTF-16.
  std::size_t mark_bytes(std::string_view text) const {
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
      throw error_in(path_, Errc::unsupported, "the file is UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)", 0);
    return text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  }

  // Looks at a piece of the file, which begins at `offset`.
  void look_at(std::string_view text, std::uint64_t offset) {
    while (!text.empty()) {
      const std::size_t newline = text.find('\n');
      const std::string_view line = text.substr(0, newline);
      has_value_ = has_value_ || line.find_first_not_of(" \t\r") != line.npos;
      const bool ends = newline != text.npos;
      offset += line.size();
      require_size(offset);
      if (!ends) return;
      end_line(offset++);
      text.remove_prefix(line.size() + 1);
    }
  }

  void require_size(std::uint64_t line_end) const {
    if (line_end - line_begin_ > max_record_bytes_)
      throw error_in(path_, Errc::limit_exceeded,
                     "line " + std::to_string(line_) + " is longer than `max_record_bytes` = " +
                         std::to_string(max_record_bytes_) + "; does the file have one object per line?",
                     line_begin_);
  }

  void end_line(std::uint64_t end) {
    if (std::exchange(has_value_, false)) index_.add(line_begin_, line_);
    line_begin_ = end + 1;
    ++line_;
  }

  const std::string& path_;
  std::size_t max_record_bytes_;
  common::InputFile file_;
  common::LineIndex index_;
  XXH3_state_t hash_;
  std::uint64_t line_begin_ = 0, line_ = 1;
  bool has_value_ = false;  // the current line has more than space
};

}  // namespace

common::LineIndex index_lines(const std::string& path, std::size_t max_record_bytes) {
  return std::make_unique<LineScan>(path, max_record_bytes)->run();
}

}  // namespace penstock::json
