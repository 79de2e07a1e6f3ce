// SPDX-License-Identifier: Apache-2.0
// Images of records, and what they should be.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

#include <penstock/sources/slide.hpp>

#include "sources/source_checks.hpp"
#include "support/test_images.hpp"

namespace penstock_test {

// The box of an image, padded with `fill`.
inline Image box_of(const Image& slide, std::int64_t x, std::int64_t y, std::int32_t width, std::int32_t height,
                    const std::array<std::uint8_t, 3>& fill = {255, 255, 255}) {
  Image out({height, width, 3});
  for (std::int32_t row = 0; row < height; ++row)
    for (std::int32_t column = 0; column < width; ++column)
      for (std::int32_t c = 0; c < 3; ++c) {
        const bool there = y + row < slide.shape.height && x + column < slide.shape.width;
        out.at(row, column, c) =
            there ? slide.at(static_cast<std::int32_t>(y) + row, static_cast<std::int32_t>(x) + column, c)
                  : fill[static_cast<std::size_t>(c)];
      }
  return out;
}

inline Image image_of(const penstock::TensorView& tensor) {
  Image image({static_cast<std::int32_t>(tensor.shape[0]), static_cast<std::int32_t>(tensor.shape[1]), 3});
  std::copy_n(reinterpret_cast<const std::uint8_t*>(tensor.data), tensor.bytes(), image.pixels.begin());
  return image;
}

inline std::int64_t number_of(const penstock::OwnedSample& sample, std::string_view field) {
  return *sample[field].as<std::int64_t, 0>().data();
}

// The largest difference of two values.
inline int most_different(const Image& a, const Image& b) {
  if (!(a.shape == b.shape)) return 256;
  int most = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) most = std::max(most, std::abs(a.pixels[i] - b.pixels[i]));
  return most;
}

// Each record's image, and its place.
inline void for_each_record(const penstock::Slides& options, auto look) {
  const penstock::SlideSource source(options);
  for (std::uint64_t i = 0; i < source.size(); ++i) {
    const penstock::OwnedSample sample = penstock::read_sample(source, i);
    look(image_of(sample["image"]), number_of(sample, "x"), number_of(sample, "y"));
  }
}

}  // namespace penstock_test
