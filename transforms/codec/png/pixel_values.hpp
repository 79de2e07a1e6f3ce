// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "layout.hpp"

namespace penstock::png {

// The image's values of each index of a palette. Which array is used follows from the image's dtype.
struct Palette {
  std::size_t size = 0;
  std::array<std::array<std::uint8_t, 4>, 256> bytes;
  std::array<std::array<std::uint16_t, 4>, 256> words;
};

// Reads the palette of a checked PNG as libpng does, if its colours are needed. Returns false if libpng would refuse
// it.
bool read_palette(std::span<const std::byte> encoded, const Layout& layout, Palette& palette);

// Converts pixels [left, left + width) of a row, as Layout describes it, to pixels of the image. Returns false if a
// pixel has an index that the palette lacks; see missing_color().
bool take_pixels(const Layout& layout, const Palette& palette, const std::uint8_t* row, std::int32_t left,
                 std::int32_t width, std::uint8_t* out);

// Returns the first index of these pixels that the palette lacks.
std::uint8_t missing_color(const Palette& palette, const std::uint8_t* row, std::int32_t left, std::int32_t width);

}  // namespace penstock::png
