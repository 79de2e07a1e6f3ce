// SPDX-License-Identifier: Apache-2.0
#include "picture/caption.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "picture/text.hpp"

namespace penstock::slide {

namespace {

constexpr Rgb black{0, 0, 0}, white{255, 255, 255};
constexpr std::int32_t margin = 6;  // pixels of the font

// A line of text and its position, in pixels of the font.
struct PlacedText {
  std::int32_t left, top;
  std::string text;
  bool heading;
};
struct PlacedSwatch {
  std::int32_t left, top;
  const Bitmap* swatch;
};

class Layout {
 public:
  Layout(const Caption& caption, std::int32_t width) : width_(width) {
    const auto columns = static_cast<std::size_t>((width - 2 * margin) / character_step);
    for (std::size_t i = 0; i < caption.lines.size(); ++i) {
      // A bold heading is one pixel wider, so its lines have one character less.
      for (std::string& line : wrapped(plain_text(caption.lines[i]), i == 0 ? columns - 1 : columns)) {
        texts.push_back({margin, top_, std::move(line), i == 0});
        top_ += line_step;
      }
      top_ += gap;
    }
    for (const LegendEntry& entry : caption.legend) {
      const auto beside_swatch = static_cast<std::size_t>((width - 2 * margin - swatch_side - gap) / character_step);
      const std::vector<std::string> lines = wrapped(plain_text(entry.meaning), beside_swatch);
      const std::int32_t taken = swatch_side + gap + text_width(lines.front());
      begin_line_for(lines.size() == 1 ? taken : width);
      swatches.push_back({left_, top_, &entry.swatch});
      for (const std::string& line : lines) {
        if (&line != lines.data()) top_ += line_step;
        texts.push_back({left_ + swatch_side + gap, top_ + 1, line, false});
      }
      // If the meaning takes several lines, the next item begins a new line.
      left_ = lines.size() == 1 ? left_ + taken + between : width;
    }
    if (caption.bar) {
      bar_width = caption.bar->pixels / caption.scale;
      begin_line_for(bar_width + gap + text_width(caption.bar->length));
      bar_left = left_;
      bar_top = top_;
      texts.push_back({left_ + bar_width + gap, top_ + 1, caption.bar->length, false});
    }
    height = top_ + swatch_side + margin;
  }

  std::vector<PlacedText> texts;
  std::vector<PlacedSwatch> swatches;
  std::int32_t height = 0, bar_left = 0, bar_top = 0, bar_width = 0;

 private:
  static constexpr std::int32_t gap = 4, between = 12;
  static std::int32_t text_width(const std::string& text) {
    return static_cast<std::int32_t>(text.size()) * character_step;
  }
  void begin_line_for(std::int32_t taken) {
    if (left_ == margin || left_ + taken <= width_ - margin) return;
    left_ = margin;
    top_ += swatch_side + gap;
  }

  std::int32_t width_, left_ = margin, top_ = margin;
};

}  // namespace

Bitmap draw_caption(const Caption& caption, std::int32_t width) {
  const std::int32_t scale = caption.scale;
  const Layout layout(caption, width / scale);
  Bitmap bitmap(width, layout.height * scale, white);
  for (const PlacedText& text : layout.texts)
    // To be bold, a heading is drawn a second time, one pixel to the right. At scale 1 it is not bold, because such
    // letters would be illegible.
    for (std::int32_t bold = 0; bold <= (text.heading && scale > 1 ? 1 : 0); ++bold)
      draw_text(bitmap, text.left * scale + bold, text.top * scale, scale, black, text.text);
  for (const PlacedSwatch& swatch : layout.swatches)
    bitmap.paste(*swatch.swatch, swatch.left * scale, swatch.top * scale);
  if (caption.bar) {
    const std::int32_t left = layout.bar_left * scale, middle = layout.bar_top * scale + swatch_side * scale / 2;
    const std::int32_t right = left + caption.bar->pixels;
    bitmap.fill({left, middle - scale / 2, right, middle - scale / 2 + scale}, black);
    for (const std::int32_t end : {left, right - scale})
      bitmap.fill({end, middle - 3 * scale, end + scale, middle + 3 * scale}, black);
  }
  return bitmap;
}

}  // namespace penstock::slide
