// SPDX-License-Identifier: Apache-2.0
// Slides whose stains are known.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <penstock/transforms/image.hpp>

#include "sources/slide/slide_files.hpp"
#include "transforms/image/stain_reference.hpp"

namespace penstock_test {

inline constexpr auto macenko = penstock::StainMethod::macenko, reinhard = penstock::StainMethod::reinhard;

// Pieces of tissue on glass. `strength`: of the stains.
inline Image drawn_tissue(const penstock::ImageShape& shape, std::uint64_t seed,
                          std::array<double, 2> strength = {1, 1}) {
  StainedTissue tissue{
      .stains = {{{0.5626, 0.7201, 0.4062}, {0.2159, 0.8012, 0.5581}}}, .strength = strength, .seed = seed};
  Image image = tissue.image(shape);
  Numbers numbers(seed + 100);
  struct Disc {
    int x, y, radius;
  };
  std::vector<Disc> discs;
  for (int i = 0; i < 6; ++i)
    discs.push_back({numbers.below(shape.width), numbers.below(shape.height), numbers.from(15, 15 + shape.width / 7)});
  for (std::int32_t y = 0; y < shape.height; ++y)
    for (std::int32_t x = 0; x < shape.width; ++x)
      if (std::ranges::none_of(discs, [&](const Disc& disc) {
            return (x - disc.x) * (x - disc.x) + (y - disc.y) * (y - disc.y) <= disc.radius * disc.radius;
          }))
        for (std::int32_t c = 0; c < 3; ++c) image.at(y, x, c) = static_cast<std::uint8_t>(240 + numbers.below(6));
  return image;
}

// One micrometre a pixel.
inline SlideForm stained_slide(std::int32_t width, std::int32_t height, std::uint64_t seed,
                               std::array<double, 2> strength = {1, 1}) {
  SlideForm form = micron_slide(width, height);
  form.draw = [seed, strength](const penstock::ImageShape& shape) { return drawn_tissue(shape, seed, strength); };
  return form;
}

}  // namespace penstock_test
