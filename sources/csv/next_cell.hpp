// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/error.hpp>

#include "cell_scanner.hpp"

namespace penstock::csv {

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
  throw Error(Errc::corrupt, "the record's quotes have changed since the file was opened").with_offset(cells.at());
}

}  // namespace penstock::csv
