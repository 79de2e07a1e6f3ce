// SPDX-License-Identifier: Apache-2.0
// Lines of text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "picture/bitmap.hpp"
#include "picture/glyphs.hpp"

namespace penstock::slide {

/// Pixels from one character to the next, and from one line to the next, at scale 1.
inline constexpr std::int32_t character_step = glyph_width + 1, line_step = glyph_height + 3;

/// Returns one byte per character. A micro sign or a Greek mu becomes 'u'. Any other character that is not printable
/// ASCII becomes '?'.
std::string plain_text(std::string_view utf8);

/// Breaks text at spaces into lines of at most `columns` characters. Breaks a longer word after each `columns`
/// characters. Returns at least one line.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// Draws a line of text. Its first character has its top left pixel at `left`, `top`.
void draw_text(Bitmap& bitmap, std::int32_t left, std::int32_t top, std::int32_t scale, Rgb colour,
               std::string_view text);

}  // namespace penstock::slide
