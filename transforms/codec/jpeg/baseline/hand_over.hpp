// SPDX-License-Identifier: Apache-2.0
// Why libjpeg decodes an image.
#pragma once

#include <cstdint>

namespace penstock::jpeg::baseline {

enum class HandOver : std::uint8_t {
  // Found in the header:
  kind,      // progressive, arithmetic coding, 12 bits
  colors,    // four inks, components of unknown meaning, grey of RGB
  scans,     // several, or one with unusual parameters
  sampling,  // other than 1 or 2 pixels for a value of chroma
  tables,    // missing, or refused by libjpeg
  // Found in the data:
  code,         // bits that no code begins with, at least no code of pictures of 8 bits
  range,        // coefficients that are too large for 16 bits, or that no picture has
  end_of_data,  // the data ends before the image does, or so close to its end that libjpeg may notice
  marker,       // a marker that does not belong here, or unused data before a marker
};

}  // namespace penstock::jpeg::baseline
