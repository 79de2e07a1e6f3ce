// SPDX-License-Identifier: Apache-2.0
// Why libjpeg decodes an image.
#pragma once

#include <cstdint>

namespace penstock::jpeg::baseline {

enum class HandOverReason : std::uint8_t {
  // Found in the header:
  kind,      // the image is progressive, arithmetic-coded or not of 8 bits
  colors,    // there are four inks or components of unknown meaning, or RGB is to become grey
  scans,     // there are several scans, or the scan has unusual parameters
  sampling,  // a value of chroma is not for 1 or 2 pixels, across or down
  tables,    // a table is missing, or libjpeg refuses it
  // Found in the data:
  code,         // the data has bits that begin with no code, or with a code that pictures of 8 bits don't have
  range,        // coefficients are too large for 16 bits, or for any picture
  end_of_data,  // the data ends before the image does, or so close to its end that libjpeg may notice
  marker,       // there is a marker that does not belong here, or unused data before a marker
};

}  // namespace penstock::jpeg::baseline
