// SPDX-License-Identifier: Apache-2.0
// Specifies how a drawn slide stores its tiles.
#pragma once

#include <cstdint>

namespace make_slides {

enum class TileCompression : std::uint8_t { jpeg, jpeg2000 };

struct TileForm {
  TileCompression compression = TileCompression::jpeg;
  std::int32_t side = 256;  ///< in pixels; a multiple of 16
  int quality = 80;
  int subsampling = 420;  ///< must be 444 if `rgb`
  /// Whether streams have red, green and blue. JPEG streams then have component ids 0, 1, 2 and no marker for the
  /// colours, like Aperio's. JPEG 2000 streams use the codec's own colour transform.
  bool rgb = false;
};

}  // namespace make_slides
