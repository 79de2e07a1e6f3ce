// SPDX-License-Identifier: Apache-2.0
// One level of a slide's image, and how its file stores it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

namespace penstock::slide {

/// The position of an array of whole numbers in a file, so that single numbers can be read when they are needed.
struct StoredArray {
  std::uint64_t offset = 0, count = 0;
  std::uint32_t element_bytes = 0;  ///< 2, 4 or 8
  friend bool operator==(const StoredArray&, const StoredArray&) = default;
};

/// A level's tiles, and the position of the array of their sizes in bytes.
struct TileSizes {
  std::int64_t width = 0, height = 0;            ///< pixels of the level
  std::int32_t tile_width = 0, tile_height = 0;  ///< pixels of a tile
  std::uint32_t planes = 1;                      ///< stored tiles of each tile; those of a plane are together
  StoredArray bytes;
  friend bool operator==(const TileSizes&, const TileSizes&) = default;
};

/// How tiles hold the values of pixels, if a codec without loss compresses them, or none.
struct StoredValues {
  enum class Colors : std::uint8_t { black_is_zero, white_is_zero, rgb, palette };
  /// `multiplied`: the colours are multiplied by alpha already. `apart`: they are not.
  enum class Alpha : std::uint8_t { none, multiplied, apart };
  static constexpr std::size_t most_samples = 4;

  Colors colors = Colors::rgb;
  Alpha alpha = Alpha::none;     ///< what the last sample of a pixel is
  std::uint8_t samples = 3;      ///< values of a pixel, 1 to 4; 3 or 4 for RGB, 1 for a palette, else 1 or 2
  std::uint8_t value_bytes = 1;  ///< 1 or 2; 1 for a palette
  bool planes = false;           ///< each sample has tiles of its own, those of the first sample first
  bool differences = false;      ///< each value is stored as its difference from the pixel to its left

  /// Returns whether pixels need nothing but their values of 8 bits.
  bool is_plain_rgb() const noexcept { return colors == Colors::rgb && samples == 3 && alpha == Alpha::none; }
  /// Returns how many stored tiles a tile's pixels are made of.
  std::size_t planes_read() const noexcept {
    if (!planes) return 1;
    return (colors == Colors::rgb ? 3u : 1u) + (alpha != Alpha::none ? 1u : 0u);
  }
  friend bool operator==(const StoredValues&, const StoredValues&) = default;
};

struct Level {
  std::int64_t width = 0, height = 0;  ///< pixels
  SlideCodec codec = SlideCodec::jpeg;
  std::int32_t tile_width = 0, tile_height = 0;  ///< pixels of a tile; 0 if OpenSlide doesn't report them
  bool rgb = false;                              ///< the values of a JPEG's pixel are RGB; otherwise YCbCr
  bool big_endian = false;                       ///< the file's numbers are big-endian
  StoredValues values;                           ///< used if `holds_values`
  /// JPEG tables that the tiles' streams lack (tag 347), or a palette: 256 RGB colours.
  std::vector<std::byte> tables;
  StoredArray tile_offsets, tile_bytes;
  /// The finer levels that can be read, with their tiles' sizes. The next finer level comes first. Empty if OpenSlide
  /// reads this level.
  std::vector<TileSizes> finer = {};
  std::string unreadable;  ///< why this level can't be read; empty: it can
  /// Whether each of the level's pixels begins at a whole pixel of level 0. If not, OpenSlide interpolates.
  bool has_whole_pixels = true;

  std::uint64_t tile_columns() const noexcept { return across(width, tile_width); }
  std::uint64_t tile_rows() const noexcept { return across(height, tile_height); }
  std::uint64_t tiles() const noexcept { return tile_columns() * tile_rows(); }
  /// Returns the number of elements of `tile_offsets` and `tile_bytes`. No file has more than 2^59.
  std::uint64_t stored_tiles() const noexcept {
    return std::min(tiles(), std::uint64_t{1} << 59) * (values.planes ? values.samples : 1u);
  }
  bool holds_values() const noexcept {
    return codec == SlideCodec::uncompressed || codec == SlideCodec::deflate || codec == SlideCodec::lzw ||
           codec == SlideCodec::packbits || codec == SlideCodec::zstd;
  }
  /// Returns the bytes of a row of one plane of a tile, and of the plane. Only for levels that hold values.
  std::size_t plane_row_bytes() const noexcept {
    return static_cast<std::size_t>(tile_width) * values.value_bytes * (values.planes ? 1u : values.samples);
  }
  std::size_t plane_bytes() const noexcept { return plane_row_bytes() * static_cast<std::size_t>(tile_height); }
  std::size_t pixel_bytes() const noexcept {
    return static_cast<std::size_t>(tile_width) * static_cast<std::size_t>(tile_height) * 3;
  }
  friend bool operator==(const Level&, const Level&) = default;

 private:
  static std::uint64_t across(std::int64_t side, std::int32_t tile) noexcept {
    return static_cast<std::uint64_t>((side + tile - 1) / tile);
  }
};

}  // namespace penstock::slide
