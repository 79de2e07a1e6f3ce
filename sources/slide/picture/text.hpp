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

/// Pixels from one character to the next, and from one line to the next, of text that is drawn `scale` times as large.
inline constexpr std::int32_t character_step = glyph_width + 1, line_step = glyph_height + 3;

/// One byte a character: a micro sign becomes 'u', all else that is no printable ASCII '?'.
std::string plain_text(std::string_view utf8);

/// Lines of `columns` characters at most, broken at spaces; words that are longer are broken anywhere. At least one.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// Draws a line whose first character has its top left pixel there.
void draw_text(Bitmap& bitmap, std::int32_t left, std::int32_t top, std::int32_t scale, Rgb colour,
               std::string_view text);

}  // namespace penstock::slide
