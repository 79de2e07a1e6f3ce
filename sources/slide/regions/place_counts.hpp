// SPDX-License-Identifier: Apache-2.0
// Counts the pixels of a plane of regions in each place of a grid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pixels/mask_box.hpp"
#include "regions/region_plane.hpp"

namespace penstock::slide {

/// Places on a plane, row by row. The places of a row have the same rows of the plane. The ends of rows never decrease.
struct PlacesOnPlane {
  struct Range {
    std::int32_t from = 0, to = 0;
  };
  struct Row {
    Range pixels;
    std::size_t first = 0, count = 0;  ///< places
  };
  std::vector<Row> rows;
  std::vector<Range> columns;  ///< columns of each place of a row, if all rows have the same; otherwise of every place
  bool same_columns = false;   ///< all rows have these columns
  std::vector<std::uint32_t> place_of;  ///< for a list: the place, counted row by row, of each of its numbers

  const Range& columns_of(const Row& row, std::size_t i) const noexcept {
    return columns[same_columns ? i : row.first + i];
  }
  std::size_t size() const noexcept { return rows.empty() ? 0 : rows.back().first + rows.back().count; }
};

/// Which pixels count: the pixels in which the bits of `mask` are `bits`.
struct WantedBits {
  std::uint8_t mask = 0, bits = 0;
};

/// Calls `tell(place, pixels, count)` for each place that has a row of [first, end). `pixels`: all its pixels; `count`:
/// its pixels in these rows that count. Takes time proportional to the plane's pixels there and to the places.
template <class Tell>
void count_in_places(const RegionPlane& plane, const PlacesOnPlane& places, WantedBits wanted, std::int32_t first,
                     std::int32_t end, const Tell& tell) {
  const auto width = static_cast<std::size_t>(plane.grid().width);
  // First the counted pixels in each column of the rows [low, high); then those in all columns before each.
  std::vector<std::uint32_t> in_column(width), before(width + 1);
  std::int32_t low = first, high = first;
  const auto add = [&](std::int32_t y, std::uint32_t times) {
    const std::uint8_t* const pixels = plane.row(y);
    for (std::size_t x = 0; x < width; ++x) in_column[x] += (pixels[x] & wanted.mask) == wanted.bits ? times : 0;
  };
  for (const PlacesOnPlane::Row& row : places.rows) {
    const std::int32_t top = std::max(row.pixels.from, first), bottom = std::min(row.pixels.to, end);
    if (top >= bottom) continue;
    while (high < bottom) add(high++, 1);
    while (low < top) add(low++, ~std::uint32_t{0});
    for (std::size_t x = 0; x < width; ++x) before[x + 1] = before[x] + in_column[x];
    const auto down = static_cast<std::uint64_t>(row.pixels.to - row.pixels.from);
    for (std::size_t i = 0; i < row.count; ++i) {
      const PlacesOnPlane::Range& range = places.columns_of(row, i);
      tell(row.first + i, down * static_cast<std::uint64_t>(range.to - range.from),
           before[static_cast<std::size_t>(range.to)] - before[static_cast<std::size_t>(range.from)]);
    }
  }
}

}  // namespace penstock::slide
