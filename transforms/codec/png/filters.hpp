// SPDX-License-Identifier: Apache-2.0
// The filters of PNG's rows (PNG specification, 9.2): each byte is stored as the difference to a prediction from the
// bytes to its left and above it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::png {

enum Filter : std::uint8_t { no_filter, sub_filter, up_filter, average_filter, paeth_filter, filters };

// Number of bytes after a row that undo_filter may read or write.
inline constexpr std::size_t filter_margin = 8;

// Undoes the filter of a row of `bytes` bytes: from `stored` to `out`, which do not overlap. `above` is the row above,
// already undone; zeros for the first row. `pixel_bytes` is 1 to 8: the bytes of a pixel, or 1 for smaller pixels.
void undo_filter(Filter filter, std::size_t pixel_bytes, const std::uint8_t* stored, const std::uint8_t* above,
                 std::size_t bytes, std::uint8_t* out);

}  // namespace penstock::png
