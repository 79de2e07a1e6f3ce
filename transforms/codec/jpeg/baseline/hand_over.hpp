// Why an image is decoded by libjpeg.
#pragma once

#include <cstdint>

namespace penstock::jpeg::baseline {

enum class HandOver : std::uint8_t {
  // What the header says:
  kind,      // progressive, arithmetic coding, 12 bits
  colors,    // four inks, components of unknown meaning, grey of RGB
  scans,     // several, or one with unusual parameters
  sampling,  // other than 1 or 2 pixels for a value of chroma
  tables,    // missing, or refused by libjpeg
  // What the data have:
  code,         // bits that no code begins with, or none of pictures of 8 bits
  range,        // coefficients that are too large for 16 bits, or that no picture has
  end_of_data,  // the data ends before the image does, or so close to its end that libjpeg may notice
  marker,       // another marker than the one that belongs there, or data before it that belongs to nothing
};

}  // namespace penstock::jpeg::baseline
