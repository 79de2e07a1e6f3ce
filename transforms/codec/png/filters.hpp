// SPDX-License-Identifier: Apache-2.0
// The filters of PNG's rows (PNG specification, 9.2): each byte is stored as the difference to a prediction from the
// bytes to its left and above it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::png {

enum Filter : std::uint8_t { no_filter, sub_filter, up_filter, average_filter, paeth_filter, filters };

// Number of bytes before and after a row that functions may read or write.
inline constexpr std::size_t filter_margin = 32;

// Undoes the filter of a row of `bytes` bytes: from `stored` to `out`, which do not overlap. `above` is the row above,
// already undone; zeros for the first row. `pixel_bytes` is 1 to 8: the bytes of a pixel, or 1 for smaller pixels.
void undo_filter(Filter filter, std::size_t pixel_bytes, const std::uint8_t* stored, const std::uint8_t* above,
                 std::size_t bytes, std::uint8_t* out);

// Number of rows that undo_filters makes.
inline constexpr std::size_t most_rows_together = 4;
constexpr std::size_t rows_together(std::size_t pixel_bytes) { return pixel_bytes <= 4 ? most_rows_together : 2; }

// Consecutive rows of `bytes` bytes. The strides are from one row to the next. Rows of `out` need a margin of their
// own.
struct RowsToUndo {
  Filter filters[most_rows_together];
  const std::uint8_t* stored;
  std::size_t stored_stride;
  const std::uint8_t* above;  // the row above the first one, already undone
  std::size_t bytes;
  std::uint8_t* out;
  std::size_t out_stride;
};

// Undoes the filters of rows_together() rows. This is faster than one row after the other if the filters are slow ones,
// as their pixels depend on each other along a row.
void undo_filters(std::size_t pixel_bytes, const RowsToUndo& rows);

// Returns whether undo_filters is faster for rows with these filters.
bool faster_together(const Filter* of_rows, std::size_t rows);

}  // namespace penstock::png
