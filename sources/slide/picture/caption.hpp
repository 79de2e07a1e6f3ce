// What stands below the slide in its picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "picture/bitmap.hpp"

namespace penstock::slide {

/// What a mask of tissue was.
struct MaskFacts {
  int threshold = 0;
  double mpp = 0;
};

/// What became of its places.
struct PlaceFacts {
  bool listed = false;  ///< they are those of a list, not of a grid
  bool view = false;    ///< a view leaves out some
  std::uint64_t little_tissue = 0, outside_regions = 0;
};

/// What the slide and its records are, in lines of any length. `mask`: where there is one.
std::vector<std::string> caption_lines(const SlideInfo& slide, const Slides& options,
                                       const std::optional<MaskFacts>& mask, const PlaceFacts& places);

/// A colour, and what it means.
struct LegendEntry {
  Bitmap swatch;
  std::string meaning;
};

/// A length to compare with.
struct ScaleBar {
  std::int32_t pixels = 0;
  std::string length;
};
/// The longest of 1, 2, 5, 10, ... micrometres that is no longer than `most` pixels of the picture, each of which is
/// `mpp` micrometres; nothing where that is not known, or not a pixel.
std::optional<ScaleBar> scale_bar(double mpp, std::int32_t most);

/// What the picture says, and how large.
struct Caption {
  std::vector<std::string> lines;  ///< the first one is the heading
  std::vector<LegendEntry> legend;
  std::optional<ScaleBar> bar;
  std::int32_t scale = 1;  ///< pixels of the picture for one of the font
};

/// A swatch has so many pixels of the font on a side.
inline constexpr std::int32_t swatch_side = 9;
/// The least width that a caption fits into, in pixels of the font.
inline constexpr std::int32_t least_caption_width = 360;

/// Draws it, black on white, so wide and as high as it takes. `width`: least_caption_width * scale at least.
Bitmap draw_caption(const Caption& caption, std::int32_t width);

}  // namespace penstock::slide
