// SPDX-License-Identifier: Apache-2.0
// The text below the slide in its picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "picture/bitmap.hpp"

namespace penstock::slide {

/// Facts about a mask of tissue.
struct MaskFacts {
  int threshold = 0;
  double mpp = 0;
};

/// What became of a slide's places.
struct PlaceFacts {
  bool listed = false;  ///< the places come from a list, not from a grid
  bool view = false;    ///< the slide belongs to a view that leaves out some places
  std::uint64_t little_tissue = 0, outside_regions = 0;
};

/// Describes the slide and its records, in lines of any length. `mask`: set if there is a mask.
std::vector<std::string> caption_lines(const SlideInfo& slide, const Slides& options,
                                       const std::optional<MaskFacts>& mask, const PlaceFacts& places);

/// A colour, and its meaning.
struct LegendEntry {
  Bitmap swatch;
  std::string meaning;
};

/// A line in the caption that shows a length on the slide.
struct ScaleBar {
  std::int32_t pixels = 0;
  std::string length;
};
/// Returns a bar of 1, 2, 5, 10, ... micrometres: the longest that has 1 to `most` pixels of the picture. `mpp`:
/// micrometres per pixel of the picture; 0: unknown. Returns nothing if `mpp` is unknown, or if none of these bars has
/// 1 to `most` pixels.
std::optional<ScaleBar> scale_bar(double mpp, std::int32_t most);

/// The text below a picture, and the size of its letters.
struct Caption {
  std::vector<std::string> lines;  ///< the first one is the heading
  std::vector<LegendEntry> legend;
  std::optional<ScaleBar> bar;
  std::int32_t scale = 1;  ///< pixels of the picture per pixel of the font
};

/// Side of a swatch in pixels of the font.
inline constexpr std::int32_t swatch_side = 9;
/// The least width of a caption, in pixels of the font.
inline constexpr std::int32_t least_caption_width = 360;

/// Draws a caption, black on white, as high as needed. `width`, in pixels of the picture, must be at least
/// least_caption_width * scale.
Bitmap draw_caption(const Caption& caption, std::int32_t width);

}  // namespace penstock::slide
