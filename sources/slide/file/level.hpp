// SPDX-License-Identifier: Apache-2.0
// One level of a slide's image, and how its file stores it.
#pragma once

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
  StoredArray bytes;
  friend bool operator==(const TileSizes&, const TileSizes&) = default;
};

struct Level {
  std::int64_t width = 0, height = 0;  ///< pixels
  SlideCodec codec = SlideCodec::jpeg;
  std::int32_t tile_width = 0, tile_height = 0;  ///< pixels of a tile; 0 if OpenSlide doesn't report them
  bool rgb = false;                              ///< the values of a pixel are RGB; otherwise YCbCr
  bool big_endian = false;                       ///< the file's numbers are big-endian
  std::vector<std::byte> tables;                 ///< JPEG tables that the tiles' streams lack (tag 347)
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
