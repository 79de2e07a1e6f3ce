// SPDX-License-Identifier: Apache-2.0
#include "pixels/level_pixels.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "pixels/reused_scratch.hpp"

namespace penstock::slide {

// Reads the part of each tile that is in `there`.
void LevelPixels::read_tiles(const SlideBox& there, bool verify, const Canvas& canvas, Scratch& scratch) const {
  const Level& level = slide_.image.level;
  const TouchedTiles all = tiles_of(level, all_);
  const std::int64_t wide = level.tile_width, high = level.tile_height;
  ReusedScratch for_tile(scratch);
  std::optional<OpenedSlide> open;
  std::array<TilePlace, 16> places;
  for (std::uint64_t row = 0; row < all.rows; ++row) {
    const std::int64_t tile_y = static_cast<std::int64_t>(all.row + row) * high;
    const std::int64_t top = std::max(there.y, tile_y), bottom = std::min(there.y + there.height, tile_y + high);
    if (top >= bottom && !verify) continue;
    std::uint64_t known_from = 0, known_to = 0;  // positions of tiles are known for columns [known_from, known_to)
    for (std::uint64_t column = 0; column < all.columns; ++column) {
      const std::int64_t tile_x = static_cast<std::int64_t>(all.column + column) * wide;
      const std::int64_t left = std::max(there.x, tile_x), right = std::min(there.x + there.width, tile_x + wide);
      const bool touched = left < right && top < bottom;
      if (!touched && !verify) continue;
      const std::span<const std::byte> block =
          blocks_.empty() ? std::span<const std::byte>() : blocks_[row * all.columns + column];
      if (!block.empty()) {
        const auto bytes = static_cast<std::size_t>(right - left) * 3;
        for (std::int64_t y = top; touched && y < bottom; ++y)
          std::memcpy(canvas.at(left, y), block.data() + ((y - tile_y) * wide + left - tile_x) * 3, bytes);
        continue;
      }
      const std::uint64_t tile = (all.row + row) * level.tile_columns() + all.column + column;
      if (!open) open = readers_.tiles.open(slide_);
      if (column >= known_to) {
        const std::uint64_t some = std::min<std::uint64_t>(places.size(), all.columns - column);
        TileReader::find(*open, tile, std::span(places).first(static_cast<std::size_t>(some)));
        known_from = column;
        known_to = column + some;
      }
      const TilePlace& place = places[static_cast<std::size_t>(column - known_from)];
      std::byte pixel[3];
      const Box part = touched ? Box{static_cast<std::int32_t>(top - tile_y), static_cast<std::int32_t>(left - tile_x),
                                     static_cast<std::int32_t>(bottom - top), static_cast<std::int32_t>(right - left)}
                               : Box{0, 0, 1, 1};
      for_tile.reset();
      readers_.tiles.decode(*open, tile, place, part, verify, touched ? canvas.at(left, top) : pixel,
                            touched ? canvas.stride : 3, &for_tile);
    }
  }
}

namespace {

// Blends a row of OpenSlide's pixels, which are premultiplied, over the colour `outside`. Writes the result as RGB.
void write_row(const std::uint32_t* argb, std::int64_t width, const std::array<std::uint8_t, 3>& outside,
               std::byte* out) {
  auto* to = reinterpret_cast<std::uint8_t*>(out);
  for (std::int64_t x = 0; x < width; ++x, to += 3, ++argb) {
    const std::uint32_t clear = 255 - (*argb >> 24);
    for (std::uint32_t c = 0; c < 3; ++c) {
      const std::uint32_t value = *argb >> (16 - 8 * c) & 255;
      to[c] = static_cast<std::uint8_t>(clear == 0 ? value : std::min(value + (outside[c] * clear + 127) / 255, 255u));
    }
  }
}

}  // namespace

// Reads a few rows at a time, to use little memory. If OpenSlide interpolates, reads all rows at once, because each
// read would interpolate from a different position.
void LevelPixels::read_region(const SlideBox& there, const std::array<std::uint8_t, 3>& outside, const Canvas* canvas,
                              Scratch& scratch) const {
  if (there.width == 0 || there.height == 0) return;
  constexpr std::int64_t pixels_together = 1 << 18;
  const std::int64_t rows = slide_.image.level.has_whole_pixels
                                ? std::clamp(pixels_together / there.width, std::int64_t{1}, there.height)
                                : there.height;
  auto* const argb = reinterpret_cast<std::uint32_t*>(
      scratch.allocate(static_cast<std::size_t>(there.width * rows) * sizeof(std::uint32_t)));
  const Scale of_level{slide_.image.level.width, slide_.image.level.height, slide_.image.scale.width0,
                       slide_.image.scale.height0, false};
  for (std::int64_t y = there.y; y < there.y + there.height; y += rows) {
    const std::int64_t count = std::min(rows, there.y + there.height - y);
    readers_.regions.read(slide_, of_level.x_at_level_0(there.x), of_level.y_at_level_0(y), there.width, count, argb);
    for (std::int64_t row = 0; canvas != nullptr && row < count; ++row)
      write_row(argb + row * there.width, there.width, outside, canvas->at(there.x, y + row));
  }
}

void LevelPixels::read(const SlideBox& there, bool verify, const std::array<std::uint8_t, 3>& outside,
                       const Canvas& canvas, Scratch& scratch) const {
  if (slide_.image.level.codec != SlideCodec::openslide) return read_tiles(there, verify, canvas, scratch);
  read_region(there, outside, &canvas, scratch);
  if (verify && !(there.width == all_.width && there.height == all_.height))
    read_region(all_, outside, nullptr, scratch);
}

}  // namespace penstock::slide
