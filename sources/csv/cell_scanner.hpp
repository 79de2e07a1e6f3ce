#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::csv {

/// One cell where it lies.
struct Cell {
  std::string_view raw;      ///< without the quotes around it
  bool doubled = false;      ///< quotes inside are written twice
  std::size_t offset = 0;    ///< of the cell in the text
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

  CellScanner(std::string_view text, char delimiter) : text_(text), delimiter_(delimiter) {}
  Result next(Cell& cell);

  /// Behind the record and its line's end, once it has ended; else where scanning stopped.
  std::size_t at() const noexcept { return at_; }
  /// True when the record's line has an end; false when the text ended instead.
  bool line_ended() const noexcept { return line_ended_; }

 private:
  Result quoted(Cell& cell);
  Result behind_cell();

  std::string_view text_;
  char delimiter_;
  std::size_t at_ = 0;
  bool done_ = false, line_ended_ = false;
};

}  // namespace penstock::csv
