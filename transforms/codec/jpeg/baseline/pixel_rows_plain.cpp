// SPDX-License-Identifier: Apache-2.0
#include "pixel_rows_plain.hpp"

#include <algorithm>

namespace penstock::jpeg::baseline {

namespace {

void put_ycc(int y, int cb, int cr, std::uint8_t* pixel) {
  // The factors are 1.402, 0.34414, 0.71414 and 1.772 (JFIF 1.02), rounded to 16 bits of fraction like in libjpeg.
  constexpr int half = 1 << 15;
  const int red = (91881 * cr + half) >> 16, green = (-22554 * cb - 46802 * cr + half) >> 16,
            blue = (116130 * cb + half) >> 16;
  pixel[0] = static_cast<std::uint8_t>(std::clamp(y + red, 0, 255));
  pixel[1] = static_cast<std::uint8_t>(std::clamp(y + green, 0, 255));
  pixel[2] = static_cast<std::uint8_t>(std::clamp(y + blue, 0, 255));
}

void sum_rows(const std::uint8_t* near, const std::uint8_t* far, int count, std::uint16_t* sums) {
  for (int i = 0; i < count; ++i) sums[i] = static_cast<std::uint16_t>(3 * near[i] + far[i]);
}

void widen(const std::uint8_t* values, int count, std::uint16_t* sums) { std::copy_n(values, count, sums); }

void between_rows(const std::uint8_t* near, const std::uint8_t* far, int rounding, int count, std::uint8_t* values) {
  for (int i = 0; i < count; ++i) values[i] = static_cast<std::uint8_t>((3 * near[i] + far[i] + rounding) >> 2);
}

void ycc(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr, const PixelRow& row) {
  for (int i = 0, x = row.left_out; i < row.count; ++i, ++x)
    put_ycc(y[x], cb[x] - 128, cr[x] - 128, row.pixels + 3 * i);
}

template <AcrossRounding Rounding>
void ycc_across(const std::uint8_t* y, const std::uint16_t* cb, const std::uint16_t* cr, const PixelRow& row) {
  const auto between = [](const std::uint16_t* c, int x) {
    const int k = x / 2, odd = x % 2;
    return ((3 * c[k] + c[odd != 0 ? k + 1 : k - 1] + (odd != 0 ? Rounding.odd : Rounding.even)) >> Rounding.shift) -
           128;
  };
  for (int i = 0, x = row.left_out; i < row.count; ++i, ++x)
    put_ycc(y[x], between(cb, x), between(cr, x), row.pixels + 3 * i);
}

void rgb(const std::uint8_t* r, const std::uint8_t* g, const std::uint8_t* b, const PixelRow& row) {
  for (int i = 0, x = row.left_out; i < row.count; ++i, ++x) {
    row.pixels[3 * i] = r[x];
    row.pixels[3 * i + 1] = g[x];
    row.pixels[3 * i + 2] = b[x];
  }
}

void gray(const std::uint8_t* y, const PixelRow& row) { rgb(y, y, y, row); }

}  // namespace

PixelRowKernels pixel_rows_plain() {
  return {sum_rows, widen, between_rows, ycc, ycc_across<of_values>, ycc_across<of_sums>, rgb, gray};
}

}  // namespace penstock::jpeg::baseline
