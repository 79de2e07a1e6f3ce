// SPDX-License-Identifier: Apache-2.0
// JPEG tiles of TIFF files, read in the plainest way: what is in a slide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transforms/codec/jpeg/plain_jpeg.hpp"

namespace penstock_test {

struct TiffLevel {
  int photometric = 0;  // 2: RGB, 6: YCbCr
  std::int32_t tile_width = 0, tile_height = 0;
  std::span<const std::byte> tables;  // empty: tiles have their own
  std::vector<std::span<const std::byte>> tiles;
};

struct TiledTiff {
  std::string name;
  Bytes bytes;
  std::vector<TiffLevel> levels;  // those of JPEG tiles, in the order of the file
};

// Those of the folder that PENSTOCK_SLIDES names, but for files that are known to be unreadable. None where it names
// none.
std::vector<TiledTiff> tiled_tiffs();

// A tile as a file of its own, whose marker says what the colours are.
Bytes whole_file(std::span<const std::byte> tile, const TiffLevel& level);

}  // namespace penstock_test
