// SPDX-License-Identifier: Apache-2.0
// A slide's levels as JPEG tiles: the first is drawn, each of the others is made of the one above it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "drawn_tissue.hpp"
#include "jpeg2000_tile.hpp"
#include "jpeg_tile.hpp"
#include "new_file.hpp"
#include "tile_damage.hpp"

namespace make_slides {

/// What is to be drawn.
struct SlideWish {
  TissueKind kind = TissueKind::benign;
  std::uint64_t seed = 0;
  std::int32_t width = 0, height = 0;
  std::size_t levels = 1;
  TileForm tile = {};
  bool repeat = false;  ///< few different tiles, which many places share
  std::vector<BadTile> bad = {};
};

/// Where in the file a tile's stream lies.
struct TilePlace {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

/// A level and its tiles, row by row.
struct DrawnLevel {
  std::int32_t width = 0, height = 0;
  std::size_t columns = 0, rows = 0;
  std::vector<TilePlace> tiles = {};
};

/// Each level has half the width and height of the one above it, rounded down; with no tile's place yet.
std::vector<DrawnLevel> slide_levels(const SlideWish& wish);

/// Draws the slide's tiles into the file; the same bytes at any number of threads. What memory it takes follows from
/// the slide's width, not from its height. @throws std::runtime_error.
void draw_slide(const SlideWish& wish, unsigned threads, NewFile& file, std::vector<DrawnLevel>& levels);

/// One after the other, of a thread's own: what it takes to make a tile.
struct TileMaker {
  explicit TileMaker(const TileForm& form)
      : form(form), jpeg(form), rgb(static_cast<std::size_t>(form.side) * static_cast<std::size_t>(form.side) * 3) {}
  /// What `rgb` becomes in the file.
  std::vector<std::byte> encode() {
    return form.compression == TileCompression::jpeg ? jpeg.encode(rgb.data()) : encode_jpeg2000_tile(form, rgb.data());
  }
  TileForm form;
  JpegTileEncoder jpeg;
  std::vector<std::uint8_t> rgb;
};

/// Rows of RGB pixels that begin `stride` bytes apart.
struct RgbRows {
  std::uint8_t* data = nullptr;
  std::size_t stride = 0;
};
/// Makes half as many rows and columns of pixels, each the mean of four. `width` and `height` of what is made.
void halve(const std::uint8_t* from, std::size_t from_stride, std::int32_t width, std::int32_t height, RgbRows to);

}  // namespace make_slides
