// SPDX-License-Identifier: Apache-2.0
// Makes pixels from values of components, row by row, with libjpeg's smooth ("fancy") upsampling and its colours. There
// is one version per instruction set. All versions make the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::jpeg::baseline {

// Where the pixels of a row go. The first `left_out` pixels are not written; the `count` pixels after them are.
struct PixelRow {
  std::uint8_t* pixels;  // the first pixel that is written
  int left_out;          // 0 or 1
  int count;
};

// Kernels work on whole vectors. They may read up to this number of values after the last one. If their results are
// not pixels, they may also write up to this number of values after the last one.
inline constexpr int row_margin = 64;

struct PixelRowKernels {
  // Makes 3 * near + far for each value. The sums are 4 times the values of a row between `near` and `far`.
  void (*sum_rows)(const std::uint8_t* near, const std::uint8_t* far, int count, std::uint16_t* sums);
  void (*widen)(const std::uint8_t* values, int count, std::uint16_t* sums);
  // Makes (3 * near + far + rounding) / 4 for each value.
  void (*between_rows)(const std::uint8_t* near, const std::uint8_t* far, int rounding, int count,
                       std::uint8_t* values);

  // Makes RGB from one value of each component per pixel.
  void (*ycc)(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, const PixelRow& row);
  // Makes RGB from one value of chroma per two pixels across. A pixel's chroma is a quarter of the way from this value
  // to the neighbouring value. So there must be one more value before the first one, and after the last one. For 4:2:2,
  // `widen` makes the values.
  void (*ycc_half_across)(const std::uint8_t* y, const std::uint16_t* cb, const std::uint16_t* cr, const PixelRow& row);
  // Does the same as `ycc_half_across`, but with chroma that `sum_rows` has made, for 4:2:0.
  void (*ycc_half)(const std::uint8_t* y, const std::uint16_t* cb, const std::uint16_t* cr, const PixelRow& row);
  void (*rgb)(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, const PixelRow& row);
  void (*gray)(const std::uint8_t* y, const PixelRow& row);
};
PixelRowKernels pixel_rows();

}  // namespace penstock::jpeg::baseline
