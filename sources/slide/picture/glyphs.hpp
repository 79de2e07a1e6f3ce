// SPDX-License-Identifier: Apache-2.0
// A font of 5 x 7 pixels, with two more rows below the line.
#pragma once

#include <cstdint>

namespace penstock::slide {

inline constexpr std::int32_t glyph_width = 5, glyph_height = 9;

/// Returns whether a pixel of a printable ASCII character is ink; all other characters look like '?'.
bool glyph_has_ink(char character, std::int32_t x, std::int32_t y) noexcept;

}  // namespace penstock::slide
