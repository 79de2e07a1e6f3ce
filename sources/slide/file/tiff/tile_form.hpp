// SPDX-License-Identifier: Apache-2.0
// What a directory says about the form of its image's tiles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "file/level.hpp"
#include "file/tiff/directory.hpp"

namespace penstock::slide {

bool is_tiled(const Directory& directory);

/// Returns whether the image is stored mirrored or turned. OpenSlide would return its tiles as they are stored.
bool is_turned(const Directory& directory);
/// @throws Error(unsupported) if the image is stored mirrored or turned.
void refuse_turned(const Directory& directory, const std::string& path);

struct TileForm {
  SlideCodec codec = SlideCodec::jpeg;
  bool rgb = false;     ///< the values of a JPEG's pixel are RGB; otherwise YCbCr
  StoredValues values;  ///< used if the codec is none of JPEG's
  /// JPEG tables, or a palette: 256 RGB colours.
  std::vector<std::byte> tables;
};

/// Reads the form of the tiles. @throws NeedsOpenSlide if this library can't read such tiles; Error(corrupt | io).
TileForm read_tile_form(const Directory& directory, const std::string& path);

}  // namespace penstock::slide
