// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cell_ends.hpp"

namespace penstock::csv {

/// One cell, as a view of the text.
struct Cell {
  std::string_view raw;      ///< the cell without the quotes around it
  bool doubled = false;      ///< `raw` has quotes, each written twice
  std::size_t offset = 0;    ///< offset of the cell in the text
  std::string text() const;  ///< returns the cell's content
};

/// Goes through the cells of one record, which begins where the text begins.
class CellScanner {
 public:
  enum class Result : std::uint8_t {
    cell,       ///< a cell was found
    end,        ///< the record has ended
    unclosed,   ///< the text ends inside of quotes
    text_after  ///< something other than a delimiter or a line's end follows a closing quote
  };

  /// Number of bytes after a text that must be readable, whatever they hold.
  static constexpr std::size_t slack = CellEnds::block_bytes;

  /// A position in a record, from which scanning can continue.
  struct Position {
    const char* at;
    CellEnds::Block block;
    bool ended = false, line_ended = false;
  };

  CellScanner(std::string_view text, char delimiter) noexcept
      : ends_(text.data() + text.size(), delimiter),
        begin_(text.data()),
        position_{text.data(), ends_.block(text.data())},
        delimiter_(delimiter) {}

  Result next(Cell& cell) {
    if (position_.ended) return Result::end;
    if (position_.at != ends_.text_end() && *position_.at == '"') return quoted(cell);
    cell.offset = at();
    cell.doubled = false;
    cell.raw = plain(position_);
    return Result::cell;
  }

  /// Returns the offset where scanning stopped. If the record has ended, that is the offset after its line end.
  std::size_t at() const noexcept { return static_cast<std::size_t>(position_.at - begin_); }
  /// Returns true if the record's line has an end, false if the text ended instead.
  bool line_ended() const noexcept { return position_.line_ended; }

  /// For a faster scan of cells without quotes: copy `position()`, call `plain` with the copy for each cell, then give
  /// the copy to `go_on`. If a cell has quotes, give that cell to `go_on` instead; `next` then reads it again.
  const Position& position() const noexcept { return position_; }
  void go_on(const Position& position) noexcept { position_ = position; }
  void go_on(std::string_view cell) noexcept { position_ = {cell.data(), ends_.block(cell.data())}; }

  /// Returns the next cell, as if quotes had no meaning. REQUIRES: the record has not ended.
  [[gnu::always_inline]] std::string_view plain(Position& in) const noexcept {
    const char* const begin = in.at;
    const char* const stop = ends_.next(in.block);
    const char* end = stop;
    if (stop == ends_.text_end() || *stop == '\n') {
      if (end != begin && end[-1] == '\r') --end;
      finish(in, stop);
    } else {
      in.at = stop + 1;
    }
    return {begin, static_cast<std::size_t>(end - begin)};
  }

 private:
  Result quoted(Cell& cell);
  void finish(Position& in, const char* stop) const noexcept {
    in.ended = true;
    in.line_ended = stop != ends_.text_end();
    in.at = stop + (in.line_ended ? 1 : 0);
  }

  CellEnds ends_;
  const char* begin_;
  Position position_;
  char delimiter_;
};

}  // namespace penstock::csv
