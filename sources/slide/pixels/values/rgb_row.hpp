// SPDX-License-Identifier: Apache-2.0
// Makes RGB of values as TIFF files store them. The results are those of libtiff's TIFFReadRGBATile, with alpha over
// white.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "file/level.hpp"

namespace penstock::slide {

/// Makes values of 8 bits of values of 16 bits, in place: the nearest for RGB, the high byte for grey. `values` are in
/// the machine's byte order. Any thread.
void narrow_row(std::byte* row, std::size_t values, StoredValues::Colors colors) noexcept;

/// Writes [pixels, 3] bytes to `rgb`. `row`: [pixels, stored.samples] values of 8 bits. `palette`: 256 RGB colours,
/// used if the pixels are numbers of colours. Any thread.
void write_rgb_row(const StoredValues& stored, std::span<const std::byte> palette, const std::byte* row,
                   std::size_t pixels, std::byte* rgb) noexcept;

}  // namespace penstock::slide
