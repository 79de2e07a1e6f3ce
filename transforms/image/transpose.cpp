// SPDX-License-Identifier: Apache-2.0
#include "transpose.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace penstock::image {

namespace {

template <std::size_t channels>
void columns(const std::uint8_t* image, std::size_t height, std::size_t width, std::size_t x, std::size_t count,
             std::uint8_t* out) {
  for (std::size_t top = 0; top < height; top += 16) {
    const std::size_t bottom = std::min(height, top + 16);
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint8_t* from = image + (top * width + x + k) * channels;
      std::uint8_t* to = out + (k * height + top) * channels;
      for (std::size_t y = top; y < bottom; ++y, from += width * channels, to += channels)
        std::memcpy(to, from, channels);
    }
  }
}

}  // namespace

void transpose_columns(const std::uint8_t* image, Size size, int channels, std::int32_t x, std::int32_t count,
                       std::uint8_t* out) {
  const auto height = static_cast<std::size_t>(size.height), width = static_cast<std::size_t>(size.width);
  const auto first = static_cast<std::size_t>(x), n = static_cast<std::size_t>(count);
  switch (channels) {
    case 1:
      return columns<1>(image, height, width, first, n, out);
    case 2:
      return columns<2>(image, height, width, first, n, out);
    case 3:
      return columns<3>(image, height, width, first, n, out);
    default:
      return columns<4>(image, height, width, first, n, out);
  }
}

}  // namespace penstock::image
