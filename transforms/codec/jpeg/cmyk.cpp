// SPDX-License-Identifier: Apache-2.0
#include "cmyk.hpp"

namespace penstock::jpeg {

namespace {

// Returns a * b / 255, rounded to the nearest whole number.
std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t n = a * b + 128;
  return ((n >> 8) + n) >> 8;
}

}  // namespace

void convert_cmyk(const std::uint8_t* cmyk, std::int32_t width, bool inverted, int channels, std::uint8_t* out) {
  const std::uint8_t ink = inverted ? 255 : 0;
  for (std::int32_t x = 0; x < width; ++x, cmyk += 4, out += channels) {
    // `light` is what the black ink leaves. Each colour is this light minus the part that the colour's own ink takes.
    const std::uint32_t light = 255u - (cmyk[3] ^ ink);
    std::uint32_t color[3];
    for (int c = 0; c < 3; ++c) color[c] = light - product(cmyk[c] ^ ink, light);
    if (channels == 1) {
      *out = static_cast<std::uint8_t>((19595 * color[0] + 38470 * color[1] + 7471 * color[2] + 32768) >> 16);
    } else {
      for (int c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(color[c]);
    }
  }
}

}  // namespace penstock::jpeg
