// SPDX-License-Identifier: Apache-2.0
// Rectangles of a slide's image.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "file/level.hpp"

namespace penstock::slide {

/// A rectangle of pixels of a slide's stored level, or of the image that records are cut from.
struct SlideBox {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
};

/// Says where the pixels of a SlideBox are in memory, as RGB.
struct Canvas {
  std::byte* pixels;
  std::ptrdiff_t stride;
  std::int64_t left, top;  ///< coordinates of the first pixel
  std::byte* at(std::int64_t x, std::int64_t y) const noexcept { return pixels + (y - top) * stride + (x - left) * 3; }
};

/// Returns the part of a box that is inside an image of `width` x `height` pixels. `x` and `y` of the box must not be
/// negative.
inline SlideBox inside(std::int64_t width, std::int64_t height, const SlideBox& box) noexcept {
  SlideBox part = box;
  part.width = std::max(std::min(box.width, width - box.x), std::int64_t{0});
  part.height = std::max(std::min(box.height, height - box.y), std::int64_t{0});
  return part;
}

/// The tiles of a level that a box inside the level touches: `columns` x `rows` tiles from the tile at `column`, `row`
/// on.
struct TouchedTiles {
  std::uint64_t column = 0, row = 0, columns = 0, rows = 0;
};
inline TouchedTiles tiles_of(const Level& level, const SlideBox& box) noexcept {
  const std::int64_t wide = level.tile_width, high = level.tile_height;
  const std::int64_t left = box.x / wide, top = box.y / high;
  return {static_cast<std::uint64_t>(left), static_cast<std::uint64_t>(top),
          static_cast<std::uint64_t>((box.x + box.width - 1) / wide - left + 1),
          static_cast<std::uint64_t>((box.y + box.height - 1) / high - top + 1)};
}

}  // namespace penstock::slide
