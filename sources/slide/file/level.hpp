// SPDX-License-Identifier: Apache-2.0
// One level of a slide's image, and how its file stores it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

namespace penstock::slide {

/// An array of whole numbers in a file: its position, so that a single number can be read when it is needed.
struct StoredArray {
  std::uint64_t offset = 0, count = 0;
  std::uint32_t element_bytes = 0;  ///< 2, 4 or 8
  friend bool operator==(const StoredArray&, const StoredArray&) = default;
};

/// Sizes of the tiles of a level in bytes.
struct TileSizes {
  std::int64_t width = 0, height = 0;            ///< pixels of the level
  std::int32_t tile_width = 0, tile_height = 0;  ///< pixels of a tile
  StoredArray bytes;
  friend bool operator==(const TileSizes&, const TileSizes&) = default;
};

struct Level {
  std::int64_t width = 0, height = 0;  ///< pixels
  SlideCodec codec = SlideCodec::jpeg;
  std::int32_t tile_width = 0, tile_height = 0;  ///< 0 if OpenSlide reports none
  bool rgb = false;                              ///< the values of a pixel are RGB; otherwise YCbCr
  bool big_endian = false;                       ///< byte order of numbers in the file
  std::vector<std::byte> tables;                 ///< tables that the tiles leave out (tag 347)
  StoredArray tile_offsets, tile_bytes;
  std::vector<TileSizes> finer = {};  ///< tile sizes of the finer levels that can be read, the next finer one first
  std::string unreadable;             ///< why this level can't be read; empty: it can
  /// Each of its pixels can be addressed by coordinates of level 0; false if OpenSlide would interpolate.
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
