// SPDX-License-Identifier: Apache-2.0
#include "picture/text.hpp"

#include <algorithm>

namespace penstock::slide {

std::string plain_text(std::string_view utf8) {
  std::string text;
  for (std::size_t i = 0; i < utf8.size();) {
    if (utf8.substr(i, 2) == "\xC2\xB5" || utf8.substr(i, 2) == "\xCE\xBC") {
      text += 'u';
      i += 2;
      continue;
    }
    const char first = utf8[i++];
    text += first >= ' ' && first <= '~' ? first : '?';
    // Skips the other bytes of a character of UTF-8.
    if ((first & 0xC0) == 0xC0)
      while (i < utf8.size() && (utf8[i] & 0xC0) == 0x80) ++i;
  }
  return text;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string* line = &lines.back();
    if (!line->empty() && line->size() + 1 + word.size() > columns) line = &lines.emplace_back();
    if (!line->empty()) *line += ' ';
    for (; word.size() > columns; line = &lines.emplace_back()) {
      *line += word.substr(0, columns);
      word.remove_prefix(columns);
    }
    *line += word;
  }
  return lines;
}

void draw_text(Bitmap& bitmap, std::int32_t left, std::int32_t top, std::int32_t scale, Rgb colour,
               std::string_view text) {
  for (const char character : text) {
    for (std::int32_t y = 0; y < glyph_height; ++y)
      for (std::int32_t x = 0; x < glyph_width; ++x)
        if (glyph_has_ink(character, x, y))
          bitmap.fill({left + x * scale, top + y * scale, left + (x + 1) * scale, top + (y + 1) * scale}, colour);
    left += character_step * scale;
  }
}

}  // namespace penstock::slide
