// SPDX-License-Identifier: Apache-2.0
// Makes the tiles of a slide's levels. Level 0 is drawn. Each lower level is made from the level above it.
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

/// Specifies the slide to draw.
struct SlideWish {
  TissueKind kind = TissueKind::benign;
  std::uint64_t seed = 0;
  std::int32_t width = 0, height = 0;
  std::size_t levels = 1;
  TileForm tile = {};
  bool repeat = false;  ///< whether many places share few different tiles
  std::vector<BadTile> bad = {};
};

/// Where a tile's stream is in the file.
struct TilePlace {
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
};

/// A level, and the places of its tiles, row by row.
struct DrawnLevel {
  std::int32_t width = 0, height = 0;
  std::size_t columns = 0, rows = 0;
  std::vector<TilePlace> tiles = {};
};

/// Returns the levels of a slide, without places of tiles. Each level has half the width and height of the level above
/// it, rounded down.
std::vector<DrawnLevel> slide_levels(const SlideWish& wish);

/// Draws the slide's tiles into the file. The bytes are the same at any number of threads. The memory that it needs
/// depends on the slide's width, not on its height. @throws std::runtime_error.
void draw_slide(const SlideWish& wish, unsigned threads, NewFile& file, std::vector<DrawnLevel>& levels);

/// What one thread needs to make tiles, one after the other.
struct TileMaker {
  explicit TileMaker(const TileForm& form)
      : form(form), jpeg(form), rgb(static_cast<std::size_t>(form.side) * static_cast<std::size_t>(form.side) * 3) {}
  /// Encodes `rgb`. Returns the stream for the file.
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
/// Writes pixels at half the width and height, each the mean of four pixels. `width`, `height`: the size of the result.
void halve(const std::uint8_t* from, std::size_t from_stride, std::int32_t width, std::int32_t height, RgbRows to);

}  // namespace make_slides
