// SPDX-License-Identifier: Apache-2.0
// Counts the pixels of a plane of regions in each place of a slide.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pixels/mask_box.hpp"
#include "regions/region_plane.hpp"

namespace penstock::slide {

/// Says where places are on a plane of regions. The places are in rows. All places of a row cover the same pixel rows
/// of the plane, [from, to). From one row of places to the next, neither `from` nor `to` decreases.
struct PlacesOnRegionPlane {
  struct Range {
    std::int32_t from = 0, to = 0;
  };
  struct Row {
    Range pixels;
    std::size_t first = 0, count = 0;  ///< the number of the row's first place; how many places it has
  };
  std::vector<Row> rows;
  std::vector<Range> columns;  ///< the pixel columns of each place; if `same_columns`, only of the places of one row
  bool same_columns = false;   ///< the places of all rows have the same pixel columns
  /// If the places come from a list: `place_of[i]` is the number, in this struct, of the list's place i. This struct
  /// numbers places row by row. `place_of` is empty for a grid.
  std::vector<std::uint32_t> place_of;

  const Range& columns_of(const Row& row, std::size_t i) const noexcept {
    return columns[same_columns ? i : row.first + i];
  }
  std::size_t size() const noexcept { return rows.empty() ? 0 : rows.back().first + rows.back().count; }
};

/// Tells which pixels of a plane are wanted. A pixel is wanted if `pixel & mask` equals `bits`.
struct WantedBits {
  std::uint8_t mask = 0, bits = 0;
};

/// Calls `tell(place, pixels, count)` for each place that covers a pixel row in [first, end). `place`: its number.
/// `pixels`: how many pixels the place covers. `count`: how many pixels of the place are in rows [first, end) and are
/// `wanted`. Takes time proportional to the pixels of rows [first, end) and to the number of places.
template <class Tell>
void count_in_places(const RegionPlane& plane, const PlacesOnRegionPlane& places, WantedBits wanted, std::int32_t first,
                     std::int32_t end, const Tell& tell) {
  const auto width = static_cast<std::size_t>(plane.grid().width);
  // `in_column`: the number of wanted pixels in each column of the rows [low, high). `before`: the sum of `in_column`
  // over all columns before each column.
  std::vector<std::uint32_t> in_column(width), before(width + 1);
  std::int32_t low = first, high = first;
  const auto add = [&](std::int32_t y, std::uint32_t times) {
    const std::uint8_t* const pixels = plane.row(y);
    for (std::size_t x = 0; x < width; ++x) in_column[x] += (pixels[x] & wanted.mask) == wanted.bits ? times : 0;
  };
  for (const PlacesOnRegionPlane::Row& row : places.rows) {
    const std::int32_t top = std::max(row.pixels.from, first), bottom = std::min(row.pixels.to, end);
    if (top >= bottom) continue;
    while (high < bottom) add(high++, 1);
    while (low < top) add(low++, ~std::uint32_t{0});
    for (std::size_t x = 0; x < width; ++x) before[x + 1] = before[x] + in_column[x];
    const auto down = static_cast<std::uint64_t>(row.pixels.to - row.pixels.from);
    for (std::size_t i = 0; i < row.count; ++i) {
      const PlacesOnRegionPlane::Range& range = places.columns_of(row, i);
      tell(row.first + i, down * static_cast<std::uint64_t>(range.to - range.from),
           before[static_cast<std::size_t>(range.to)] - before[static_cast<std::size_t>(range.from)]);
    }
  }
}

}  // namespace penstock::slide
