// SPDX-License-Identifier: Apache-2.0
#include "stain/stain_patches.hpp"

#include <algorithm>
#include <cstdint>

namespace penstock::slide {

namespace {

constexpr std::int64_t patch_side = 128;

// Returns, for each column or row of the mask, the column or row of squares that contains its centre.
std::vector<std::int64_t> squares_of(std::int32_t pixels, std::int32_t k, std::int64_t level, std::int64_t image) {
  std::vector<std::int64_t> squares(static_cast<std::size_t>(pixels));
  for (std::size_t i = 0; i < squares.size(); ++i) {
    // The centre of pixel i has the coordinate (2i + 1) k / 2, in pixels of the level. The last pixel's centre may be
    // outside of the level.
    const std::uint64_t twice = (2 * i + 1) * static_cast<std::uint64_t>(k);
    const auto centre =
        static_cast<std::int64_t>(twice * static_cast<std::uint64_t>(image) / (2 * static_cast<std::uint64_t>(level)));
    squares[i] = std::min(centre, image - 1) / patch_side;
  }
  return squares;
}

// Calls `use(column, row)` for each square that has tissue, row by row. Takes time proportional to the mask's pixels,
// however many squares there are.
template <class Use>
void for_each_square(const TissueMask& mask, const std::vector<std::int64_t>& columns,
                     const std::vector<std::int64_t>& rows, const Use& use) {
  const auto width = static_cast<std::size_t>(mask.width);
  std::vector<std::uint8_t> any(width);
  for (std::size_t y = 0; y < rows.size();) {
    const std::int64_t row = rows[y];
    std::fill(any.begin(), any.end(), std::uint8_t{0});
    for (; y < rows.size() && rows[y] == row; ++y)
      for (std::size_t x = 0; x < width; ++x) any[x] |= mask.tissue[y * width + x];
    std::int64_t last = -1;
    for (std::size_t x = 0; x < width; ++x)
      if (any[x] != 0 && columns[x] != last) {
        last = columns[x];
        use(last, row);
      }
  }
}

}  // namespace

std::vector<SlideBox> stain_patches(const Scale& scale, const MaskGrid& grid, const TissueMask& mask,
                                    std::size_t most) {
  const std::vector<std::int64_t> columns = squares_of(mask.width, grid.k, grid.level_width, scale.width),
                                  rows = squares_of(mask.height, grid.k, grid.level_height, scale.height);
  std::uint64_t count = 0;
  for_each_square(mask, columns, rows, [&](std::int64_t, std::int64_t) { ++count; });
  std::vector<SlideBox> patches;
  const std::uint64_t wanted = std::min<std::uint64_t>(most, count);
  std::uint64_t number = 0;
  for_each_square(mask, columns, rows, [&](std::int64_t column, std::int64_t row) {
    // Divides the squares into `wanted` equal parts, and takes the square in the middle of each part.
    if (number++ == (2 * patches.size() + 1) * count / (2 * wanted))
      patches.push_back(
          inside(scale.width, scale.height, {column * patch_side, row * patch_side, patch_side, patch_side}));
  });
  return patches;
}

}  // namespace penstock::slide
