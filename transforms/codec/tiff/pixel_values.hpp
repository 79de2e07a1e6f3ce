// SPDX-License-Identifier: Apache-2.0
// From values as libtiff returns them to pixels of the image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout.hpp"

namespace penstock::tiff {

// The image's values of each index of a palette. Which array is used follows from the image's dtype.
struct Palette {
  std::array<std::array<std::uint8_t, 4>, 256> bytes;
  std::array<std::array<std::uint16_t, 4>, 256> words;
};
// Reads the palette if its colours are needed. @throws Error(corrupt) if there is none.
void read_palette(const File& file, const Layout& layout, Palette& palette);

// Makes pixels [left, left + width) of a row of interleaved samples, as they are stored, to pixels of the image.
// `unpacked` has room for `width` bytes if values have fewer than 8 bits.
void take_pixels(const Layout& layout, const Palette& palette, const std::uint8_t* row, std::int32_t left,
                 std::int32_t width, std::uint8_t* unpacked, std::uint8_t* out);

}  // namespace penstock::tiff
