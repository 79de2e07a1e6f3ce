// SPDX-License-Identifier: Apache-2.0
// libjpeg alone: files of kinds that encode_jpeg does not make, whole decodes, and coefficients.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/test_images.hpp"

namespace penstock_test {

using Bytes = std::vector<std::byte>;

struct PlainJpeg {
  int quality = 90;
  std::array<int, 2> luma{2, 2};    // sampling factors, across and down, of the first component (and black)
  std::array<int, 2> chroma{1, 1};  // of the others
  bool tables_of_each = false;      // the third component has tables that the second one does not have
  bool progressive = false, arithmetic = false, optimized = false;
  bool one_scan_each = false;                                        // not interleaved
  int restart_interval = 0;                                          // MCUs
  enum Colors : std::uint8_t { ycc, rgb, cmyk, inks } colors = ycc;  // cmyk: as YCCK; inks: CMYK as it is
  bool jfif = true, adobe = false;
  std::vector<std::pair<int, std::string>> markers = {};  // after the first ones
};

// `image` has 1 or 3 channels, or 4 with `cmyk` or `inks`.
Bytes plain_encode(const Image& image, const PlainJpeg& options);

// A whole decode, to its end; colours as they are where there are four. A warning counts as an error, unless `warned`.
// @throws std::runtime_error.
Image plain_decode(std::span<const std::byte> bytes, bool gray = false, bool warned = false);

// The pixels of a box, as in a whole decode; libjpeg decodes the rows and columns around it that it has to. What it
// does not decode, it does not judge, unless it is asked to go on to the end. What it warns of in the header does not
// count. The image is decoded at 1 / `denominator` of its size, and `box` is in its pixels there; all columns are
// decoded then, and all rows down to the box. @throws as plain_decode.
Image plain_crop(std::span<const std::byte> bytes, const penstock::Box& box, bool gray = false, bool to_end = false,
                 int denominator = 1);

// Every quantised coefficient of the image, component by component in raster order, each with its table.
// @throws as plain_decode.
std::vector<std::int16_t> coefficients(std::span<const std::byte> bytes);

// The place after the marker FF `code` of the header. @throws std::runtime_error where there is none.
std::size_t after_marker(std::span<const std::byte> bytes, int code);

// What the header says of restarts and markers.
struct PlainHeader {
  unsigned restart_interval = 0;
  bool progressive = false, arithmetic = false, jfif = false, adobe = false;
  std::vector<std::pair<int, std::string>> markers;  // APP1 to APP14 and comments
};
PlainHeader plain_header(std::span<const std::byte> bytes);

}  // namespace penstock_test
