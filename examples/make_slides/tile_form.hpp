// SPDX-License-Identifier: Apache-2.0
// How a drawn slide stores its tiles.
#pragma once

#include <cstdint>

namespace make_slides {

enum class TileCompression : std::uint8_t { jpeg, jpeg2000 };

struct TileForm {
  TileCompression compression = TileCompression::jpeg;
  std::int32_t side = 256;  ///< pixels, a multiple of 16
  int quality = 80;
  int subsampling = 420;  ///< 444 where colours are RGB
  /// The stream holds red, green and blue. Of JPEG with component ids 0, 1, 2 and no marker that says so, as Aperio's
  /// are; of JPEG 2000 by the stream's own transform of colours.
  bool rgb = false;
};

}  // namespace make_slides
