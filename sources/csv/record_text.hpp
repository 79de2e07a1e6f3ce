// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <penstock/error.hpp>

#include "cell_scanner.hpp"
#include "input_file.hpp"
#include "source_impl.hpp"

namespace penstock {

/// Reads the text of one record after another. One thread at a time.
class CsvSource::Impl::RecordText {
 public:
  /// Returns the record's text. The bytes after it may be read, as a CellScanner requires. The text is valid until the
  /// next call, but only while this object and `store` exist. @throws Error(not_found | io). An error's offset counts
  /// from the record's beginning, like a cell's offset.
  std::string_view read(const Impl& store, Location location);

 private:
  char* buffer_for(std::size_t bytes);

  std::vector<char> buffer_;              // the record, unless it can be parsed in the map
  std::unique_ptr<csv::InputFile> file_;  // without maps: the last file that was read
  std::size_t open_file_ = 0;
};

namespace csv {

/// Moves to the next cell of a record. Returns false after the last cell. The record was checked when the file was
/// opened. @throws Error(corrupt) if the record's quotes have changed since then.
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
