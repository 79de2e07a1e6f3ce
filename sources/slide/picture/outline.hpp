// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "picture/bitmap.hpp"

namespace penstock::slide {

/// Draws the edge of the area of ones in a mask of `width` x `height` bytes, 0 or 1. The edge is all ones that are at
/// most `thick` pixels, across or down, from a 0. Everything outside of the mask counts as 0. The mask's first pixel is
/// the bitmap's first pixel.
void draw_outline(Bitmap& bitmap, std::span<const std::uint8_t> mask, std::int32_t width, std::int32_t height,
                  std::int32_t thick, Rgb colour);

}  // namespace penstock::slide
