#pragma once

#include <cstdint>

namespace penstock {

/// Which places of a slide are records: those that show tissue.
///
/// It is decided in small, on a mask: the slide with about `mpp` micrometres a pixel. That is the coarsest stored level
/// that is not coarser, each k x k of its pixels, k the largest whole number for which the result is not coarser
/// either, one pixel: their mean, rounded to the nearest. At the right and lower edge fewer pixels than k x k may be
/// there. Where a slide doesn't say how large a pixel is, half a micrometre is taken for level 0. A level that can't be
/// read counts as not stored. Where a tile can't be, coarser levels say what is there, their pixels as they are; what
/// none can say is white, and `SlideSource::left_out` tells of it. A slide of which no pixel can be read can't be read.
///
/// A pixel is tissue by `by` and `threshold`. Then gaps of up to twice `closing` are closed: all within a square around
/// tissue becomes tissue, and all within such a square around what is left becomes none; outside of the slide counts
/// for neither. Last, pieces of less than `least_area` go, then holes of less than that are filled; pixels belong
/// together where they share a side.
struct SlideTissue {
  /// What tells tissue from glass.
  enum class By : std::uint8_t {
    everywhere,  ///< nothing: all places are records
    saturation,  ///< (max - min) / max of red, green and blue, as 0 to 255, rounded: stain has colour; more than the
                 ///< threshold is tissue
    grey,        ///< 0.299 red + 0.587 green + 0.114 blue, rounded: tissue is darker; the threshold or less is tissue
  };
  /// What tells tissue from glass.
  By by = By::everywhere;
  /// Share of a place's pixels of the mask that must be tissue, 0 to 1: those whose centres lie in the place, or where
  /// there are none, the one that its centre lies in. What lies outside of the slide doesn't count. More than 0: a
  /// place without tissue is none.
  double least = 0.1;
  /// Micrometres a pixel of the mask, at most: 1 to 200. A slide whose mask would have more than 134 million pixels
  /// can't be read.
  double mpp = 16;
  /// 1 to 254. 0: Otsu's, of each slide's own mask, but of saturation at least 8 and of grey at most 245, so that a
  /// slide without tissue has none.
  int threshold = 0;
  /// Micrometres, rounded to pixels of the mask; 0 to 10,000.
  double closing = 32;
  /// Square micrometres: 0 or more.
  double least_area = 20'000;
};

}  // namespace penstock
