#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>

#include "cell_scanner.hpp"
#include "input_file.hpp"
#include "store.hpp"

namespace penstock {

/// Gives the records' text one after the other. One thread at a time.
class CsvSource::Impl::RecordText {
 public:
  /// With what a CellScanner wants after it; valid until the next call, while the store is there.
  /// @throws Error(io), its offset counted from the record's beginning as that of a cell is.
  std::string_view read(const Impl& store, Location location);

 private:
  char* buffer_for(std::size_t bytes);

  std::vector<char> buffer_;              // a record where it can't be parsed in place
  std::unique_ptr<csv::InputFile> file_;  // the one read last, without maps
  std::size_t open_file_ = 0;
};

namespace csv {

/// The next cell of a record whose cells were gone through when the file was opened; false after the last one.
/// @throws Error(corrupt) where its quotes have changed since.
inline bool next_cell(CellScanner& cells, Cell& cell) {
  switch (cells.next(cell)) {
    case CellScanner::Result::cell:
      return true;
    case CellScanner::Result::end:
      return false;
    case CellScanner::Result::unclosed:
    case CellScanner::Result::text_after:
      break;
  }
  throw Error(Errc::corrupt, "its quotes are not those that were there when the file was opened")
      .with_offset(cells.at());
}

}  // namespace csv

}  // namespace penstock
