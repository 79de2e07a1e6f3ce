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

/// Facts about the outcome of its places.
struct PlaceFacts {
  bool listed = false;  ///< the places are a list's, not a grid's
  bool view = false;    ///< a view leaves out some places
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

/// A length to compare with.
struct ScaleBar {
  std::int32_t pixels = 0;
  std::string length;
};
/// Returns the longest of 1, 2, 5, 10, ... micrometres that is at most `most` pixels of the picture, of `mpp`
/// micrometres each. Returns nothing if `mpp` is unknown, or the length is below a pixel.
std::optional<ScaleBar> scale_bar(double mpp, std::int32_t most);

/// The text of the picture, and its size.
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

/// Draws it, black on white, in this width and the height it needs. `width`: at least least_caption_width * scale.
Bitmap draw_caption(const Caption& caption, std::int32_t width);

}  // namespace penstock::slide
