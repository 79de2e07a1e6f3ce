// SPDX-License-Identifier: Apache-2.0
// Reads what stands below a slide in its picture.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <penstock/sources/slide_picture.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"

namespace penstock_test {

class PictureText {
 public:
  // Learns the letters from the heading of a slide that has them all in its name.
  PictureText() {
    const TempFolder folder;
    const std::string name = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789,.:;%()'-_+?";
    write_slide(folder / (name + ".tif"), {.width = 64, .height = 64});
    const auto picture = draw_slide(penstock::SlideSource({.files = folder / "*.tif", .size = 64}), 0);
    constexpr std::int32_t in_line = 57;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(name.size()); ++i)
      letters_[shape(picture, left + i % in_line * step, 65 + top + i / in_line * line, 1)] =
          name[static_cast<std::size_t>(i)];
  }

  // The lines below the slide, which is so many pixels high, with '\n' after each. Of the legend, which begins with its
  // colours, nothing. `scale`: pixels for one of the font.
  std::string read(const penstock::SlidePicture& picture, std::int32_t slide_height, std::int32_t scale = 1) const {
    std::string text;
    for (std::int32_t y = slide_height + 1; y + 9 * scale <= picture.height;) {
      std::string found;
      for (std::int32_t x = left * scale; x + step * scale <= picture.width; x += step * scale) {
        const auto letter = letters_.find(shape(picture, x, y, scale));
        if (letter == letters_.end() && shape(picture, x, y, scale) != std::string(45, '.')) break;
        if (letter == letters_.end() && found.empty()) break;
        found += letter == letters_.end() ? ' ' : letter->second;
      }
      const std::size_t end = found.find_last_not_of(' ');
      if (end != std::string::npos) text += found.substr(0, end + 1) + '\n';
      y += end == std::string::npos ? 1 : line * scale;
    }
    return text;
  }

  // The picture's text in one line.
  std::string words(const penstock::SlidePicture& picture, std::int32_t slide_height, std::int32_t scale = 1) const {
    std::string text = read(picture, slide_height, scale);
    for (char& c : text)
      if (c == '\n') c = ' ';
    return text;
  }

 private:
  static constexpr std::int32_t left = 6, top = 6, step = 6, line = 12;

  static std::string shape(const penstock::SlidePicture& picture, std::int32_t x, std::int32_t y, std::int32_t scale) {
    std::string ink;
    for (std::int32_t row = 0; row < 9; ++row)
      for (std::int32_t column = 0; column < 5; ++column) {
        // The last pixel of each: the heading's letters are drawn twice.
        const auto at = static_cast<std::size_t>(y + (row + 1) * scale - 1) * static_cast<std::size_t>(picture.width) +
                        static_cast<std::size_t>(x + (column + 1) * scale - 1);
        ink += picture.rgb[at * 3] < 128 ? '#' : '.';
      }
    return ink;
  }

  std::map<std::string, char> letters_;
};

}  // namespace penstock_test
