// SPDX-License-Identifier: Apache-2.0
#include "picture/outline.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace penstock::slide {

void draw_outline(Bitmap& bitmap, std::span<const std::uint8_t> mask, std::int32_t width, std::int32_t height,
                  std::int32_t thick, Rgb colour) {
  const auto row_of = [&](std::int32_t y) {
    return mask.subspan(static_cast<std::size_t>(y) * static_cast<std::size_t>(width), static_cast<std::size_t>(width));
  };
  // Counts, for each column, the consecutive ones that end at the present row.
  std::vector<std::int32_t> above(static_cast<std::size_t>(width), 0);
  for (std::int32_t y = 0; y < height; ++y) {
    const std::span<const std::uint8_t> row = row_of(y);
    std::int32_t left = 0;
    for (std::int32_t x = 0; x < width; ++x) {
      const auto column = static_cast<std::size_t>(x);
      left = row[column] != 0 ? left + 1 : 0;
      above[column] = row[column] != 0 ? above[column] + 1 : 0;
      if (row[column] == 0) continue;
      bool edge = left <= thick || above[column] <= thick;
      for (std::int32_t away = 1; away <= thick && !edge; ++away)
        edge = x + away >= width || row[column + static_cast<std::size_t>(away)] == 0 || y + away >= height ||
               row_of(y + away)[column] == 0;
      if (edge) bitmap.set(x, y, colour);
    }
  }
}

}  // namespace penstock::slide
