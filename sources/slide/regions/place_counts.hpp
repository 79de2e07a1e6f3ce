// How many pixels of a plane of regions each place of a grid has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pixels/mask_box.hpp"
#include "regions/region_plane.hpp"

namespace penstock::slide {

/// Places of a grid, as pixels of a plane: those of a column begin and end at the same ones, and those of a row.
struct PlacesOnPlane {
  struct Range {
    std::int32_t from = 0, to = 0;
  };
  std::vector<Range> columns, rows;  ///< both ends of these never go back
};

/// Which pixels count: those whose bits of `mask` are `bits`.
struct WantedBits {
  std::uint8_t mask = 0, bits = 0;
};

/// Calls `tell(column, row, count)` for each place that has a row of [first, end). Takes time in proportion to the
/// plane's pixels there and to the places.
template <class Tell>
void count_in_places(const RegionPlane& plane, const PlacesOnPlane& places, WantedBits wanted, std::int32_t first,
                     std::int32_t end, const Tell& tell) {
  const auto width = static_cast<std::size_t>(plane.grid().width);
  // Of each column, those of the rows [low, high); then of all columns before each.
  std::vector<std::uint32_t> in_column(width), before(width + 1);
  std::int32_t low = first, high = first;
  const auto add = [&](std::int32_t y, std::uint32_t times) {
    const std::uint8_t* const pixels = plane.row(y);
    for (std::size_t x = 0; x < width; ++x) in_column[x] += (pixels[x] & wanted.mask) == wanted.bits ? times : 0;
  };
  for (std::size_t row = 0; row < places.rows.size(); ++row) {
    const std::int32_t top = std::max(places.rows[row].from, first), bottom = std::min(places.rows[row].to, end);
    if (top >= bottom) continue;
    while (high < bottom) add(high++, 1);
    while (low < top) add(low++, ~std::uint32_t{0});
    for (std::size_t x = 0; x < width; ++x) before[x + 1] = before[x] + in_column[x];
    for (std::size_t column = 0; column < places.columns.size(); ++column) {
      const PlacesOnPlane::Range& range = places.columns[column];
      tell(column, row, before[static_cast<std::size_t>(range.to)] - before[static_cast<std::size_t>(range.from)]);
    }
  }
}

}  // namespace penstock::slide
