// SPDX-License-Identifier: Apache-2.0
// Colours of pictures of slides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <penstock/sources/slide_picture.hpp>

#include "sources/slide/slide_files.hpp"

namespace penstock_test {

using Rgb = std::array<int, 3>;

inline constexpr Rgb record_line{0, 90, 200}, tissue_line{0, 150, 60}, unread{255, 130, 0};

inline Rgb at(const penstock::SlidePicture& picture, std::int32_t x, std::int32_t y) {
  const std::uint8_t* pixel =
      picture.rgb.data() +
      (static_cast<std::size_t>(y) * static_cast<std::size_t>(picture.width) + static_cast<std::size_t>(x)) * 3;
  return {pixel[0], pixel[1], pixel[2]};
}

inline Rgb blended(const Rgb& pixel, const Rgb& colour, int parts) {
  Rgb out{};
  for (std::size_t c = 0; c < 3; ++c) out[c] = (pixel[c] * (100 - parts) + colour[c] * parts + 50) / 100;
  return out;
}
inline Rgb dimmed(const Rgb& pixel) { return blended(pixel, {150, 150, 150}, 60); }
// A pixel that lies in no place, of a picture whose font has one pixel.
inline Rgb striped(const Rgb& pixel, std::int32_t x, std::int32_t y) {
  return (x + y) % 6 < 2 ? blended(pixel, {95, 95, 95}, 75) : dimmed(pixel);
}

// Tissue from the left up to a column, then glass.
inline SlideForm stained_until(std::int32_t width, std::int32_t height, std::int32_t column) {
  SlideForm form = micron_slide(width, height);
  form.draw = [column](const penstock::ImageShape& shape) {
    Image image(shape);
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::int32_t x = 0; x < shape.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c)
          image.at(y, x, c) = x < column ? static_cast<std::uint8_t>(c == 1 ? 90 : 200) : std::uint8_t{240};
    return image;
  };
  return form;
}

inline Rgb mean_of(const Image& level, std::int32_t x, std::int32_t y, std::int32_t k) {
  Rgb mean{};
  for (std::int32_t c = 0; c < 3; ++c) {
    int sum = 0, count = 0;
    for (std::int32_t v = y * k; v < std::min((y + 1) * k, level.shape.height); ++v)
      for (std::int32_t u = x * k; u < std::min((x + 1) * k, level.shape.width); ++u, ++count) sum += level.at(v, u, c);
    mean[static_cast<std::size_t>(c)] = (2 * sum + count) / (2 * count);
  }
  return mean;
}

}  // namespace penstock_test
