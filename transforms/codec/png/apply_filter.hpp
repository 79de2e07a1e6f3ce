// SPDX-License-Identifier: Apache-2.0
// Filters of PNG's rows, as an encoder applies them (PNG specification, 9.2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "filters.hpp"

namespace penstock::png {

// Number of bytes before and after rows that these functions may read, and after `out` that they may write. The bytes
// before rows must be 0.
inline constexpr std::size_t apply_margin = 64;

// Returns the filter whose result has the least sum of absolute values, taken as signed bytes. Of filters with equal
// sums, returns the first one. `above` is the row above; zeros for the first row. `pixel_bytes` is 1 to 8.
Filter least_filter(std::size_t pixel_bytes, const std::uint8_t* row, const std::uint8_t* above, std::size_t bytes);

// Writes a row of `bytes` bytes, filtered, to `out`, which does not overlap with `row` and `above`.
void apply_filter(Filter filter, std::size_t pixel_bytes, const std::uint8_t* row, const std::uint8_t* above,
                  std::size_t bytes, std::uint8_t* out);

}  // namespace penstock::png
