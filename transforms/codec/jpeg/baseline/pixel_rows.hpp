// SPDX-License-Identifier: Apache-2.0
// Makes pixels from values of components, row by row, with libjpeg's smooth ("fancy") upsampling and its colours. There
// is one version per instruction set, all with the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::jpeg::baseline {

// Where the pixels of a row go. Exactly `count` of them are written; the first `left_out` are not.
struct PixelRow {
  std::uint8_t* pixels;  // the first that is written
  int left_out;          // 0 or 1
  int count;
};

// Kernels work on whole vectors. This is the number of values that they may read after the last one, and write after it
// where no pixels are stored.
inline constexpr int row_margin = 64;

struct PixelRows {
  // Makes 3 * near + far of each value: a row between two rows, times 4.
  void (*sum_rows)(const std::uint8_t* near, const std::uint8_t* far, int count, std::uint16_t* sums);
  void (*widen)(const std::uint8_t* values, int count, std::uint16_t* sums);
  // Makes (3 * near + far + rounding) / 4 of each value.
  void (*between_rows)(const std::uint8_t* near, const std::uint8_t* far, int rounding, int count,
                       std::uint8_t* values);

  // RGB with one value of each component per pixel.
  void (*ycc)(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, const PixelRow& row);
  // RGB with one value of chroma for two pixels. Each of the two is a quarter of the way to the neighbouring value, so
  // the first value needs one before it, and the last value one after it. For 4:2:2, `widen` makes the values.
  void (*ycc_half_across)(const std::uint8_t* y, const std::uint16_t* cb, const std::uint16_t* cr, const PixelRow& row);
  // RGB with chroma from `sum_rows`, for 4:2:0.
  void (*ycc_half)(const std::uint8_t* y, const std::uint16_t* cb, const std::uint16_t* cr, const PixelRow& row);
  void (*rgb)(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, const PixelRow& row);
  void (*gray)(const std::uint8_t* y, const PixelRow& row);
};
PixelRows pixel_rows();

}  // namespace penstock::jpeg::baseline
