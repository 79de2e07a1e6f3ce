// From values of components to pixels, row by row: libjpeg's smooth ("fancy") upsampling and its colours, one version
// per instruction set, all with the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::jpeg::baseline {

// Where the pixels of a row go: exactly `count` of them are written, those before the first `left_out` are not.
struct PixelRow {
  std::uint8_t* pixels;  // the first that is written
  int left_out;          // 0 or 1
  int count;
};

// Kernels work on whole vectors: so many values after the last one are read, and of what is no pixel yet are written.
inline constexpr int row_margin = 64;

struct PixelRows {
  // 3 * near + far of each value: a row between two rows, times 4.
  void (*sum_rows)(const std::uint8_t* near, const std::uint8_t* far, int count, std::uint16_t* sums);
  void (*widen)(const std::uint8_t* values, int count, std::uint16_t* sums);
  // (3 * near + far + rounding) / 4.
  void (*between_rows)(const std::uint8_t* near, const std::uint8_t* far, int rounding, int count,
                       std::uint8_t* values);

  // RGB of a value each.
  void (*ycc)(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, const PixelRow& row);
  // RGB with a value of chroma for two pixels, each of which is a quarter of the way to the next. There must be one
  // before the first and one after the last. 4:2:2: of `widen`.
  void (*ycc_half_across)(const std::uint8_t* y, const std::uint16_t* cb, const std::uint16_t* cr, const PixelRow& row);
  // RGB with chroma as `sum_rows` makes it: 4:2:0.
  void (*ycc_half)(const std::uint8_t* y, const std::uint16_t* cb, const std::uint16_t* cr, const PixelRow& row);
  void (*rgb)(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, const PixelRow& row);
  void (*gray)(const std::uint8_t* y, const PixelRow& row);
};
PixelRows pixel_rows();

}  // namespace penstock::jpeg::baseline
