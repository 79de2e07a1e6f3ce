// SPDX-License-Identifier: Apache-2.0
// The reasons why libjpeg decodes an image instead of the baseline decoder.
#pragma once

#include <cstdint>

namespace penstock::jpeg::baseline {

enum class HandOverReason : std::uint8_t {
  // Found in the header:
  kind,      // the image is progressive, arithmetic-coded or not of 8 bits
  colors,    // there are four inks or components of unknown meaning, or RGB is to become grey
  scans,     // there are several scans, or the scan has unusual parameters
  sampling,  // sampling factors are unusual, for example because a value of chroma is for 4 pixels across
  tables,    // a table is missing, or libjpeg refuses it
  // Found in the data:
  code,         // the data has bits that begin with no code, or with a code that pictures of 8 bits don't have
  range,        // coefficients are too large for 16 bits, or for any picture
  end_of_data,  // the data ends before the last MCU that is needed, or so soon after it that libjpeg may notice
  marker,       // there is an unexpected marker, or unused data before a marker
};

}  // namespace penstock::jpeg::baseline
