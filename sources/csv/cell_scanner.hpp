#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cell_ends.hpp"

namespace penstock::csv {

/// One cell where it lies.
struct Cell {
  std::string_view raw;      ///< without the quotes around it
  bool doubled = false;      ///< quotes inside are written twice
  std::size_t offset = 0;    ///< offset of the cell in the text
  std::string text() const;  ///< what it says
};

/// Goes through the cells of one record, which begins where the text does.
class CellScanner {
 public:
  enum class Result : std::uint8_t {
    cell,       ///< there was one more
    end,        ///< the record has ended
    unclosed,   ///< the text ends inside of quotes
    text_after  ///< something other than a delimiter or a line's end follows a closing quote
  };

  /// How many bytes after a text may be read, whatever they hold.
  static constexpr std::size_t slack = CellEnds::block_bytes;

  /// Where in a record.
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

  /// After the record and its line's end, once it has ended; else where scanning stopped.
  std::size_t at() const noexcept { return static_cast<std::size_t>(position_.at - begin_); }
  /// True when the record's line has an end; false when the text ended instead.
  bool line_ended() const noexcept { return position_.line_ended; }

  /// For one who goes through cells without quotes alone, faster: from `position()` on with `plain`, then `go_on` from
  /// there, or from the first cell that had some.
  const Position& position() const noexcept { return position_; }
  void go_on(const Position& position) noexcept { position_ = position; }
  void go_on(std::string_view cell) noexcept { position_ = {cell.data(), ends_.block(cell.data())}; }

  /// The next cell, as if quotes had no meaning. The record has not ended.
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
