// SPDX-License-Identifier: Apache-2.0
// JPEG 2000 streams for tests, made and decoded by OpenJPEG alone, all of a stream at a time.
#pragma once

#include <cstdint>

#include "sources/slide/slide_files.hpp"

namespace penstock_test {

struct Jpeg2000Form {
  bool rgb = true;     // what the values are; else YCbCr
  bool mixed = false;  // RGB by the stream's own transform of colours
  bool lossless = false;
  std::int32_t across = 1, down = 1;  // pixels a sample of colour, where the values are YCbCr
  std::int32_t own_tiles = 0;         // pixels on a side of the stream's own tiles; 0: one
  int resolutions = 6, layers = 1;
  bool in_jp2 = false;  // in the boxes of a JP2 file
};

// The pixels of a stream, RGB.
Image decode_jpeg2000(const Bytes& stream, const penstock::ImageShape& shape, const Jpeg2000Form& form);
// The stream, and its pixels: RGB.
StoredTile encode_jpeg2000(const Image& image, const Jpeg2000Form& form);
// The slide in JPEG 2000 that has the very pixels which are drawn. It takes ten times as long to read as one in JPEG.
SlideForm lossless(SlideForm form);

}  // namespace penstock_test
