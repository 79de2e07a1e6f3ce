// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock {

/// Which places of a slide are records: those that show tissue.
///
/// A small mask of the slide, with about `mpp` micrometres per pixel, decides. It is made of the coarsest stored level
/// that is not coarser than `mpp`. A pixel of the mask is the mean of k x k pixels of that level, rounded to the
/// nearest. The number k is the largest whole number for which the mask is not coarser than `mpp`. At the right and
/// lower edge, a pixel may have fewer than k x k. If a slide doesn't say how large a pixel is, level 0 is assumed to
/// have half a micrometre per pixel.
///
/// A level that can't be read counts as not stored. If a tile can't be read, the pixels of coarser levels replace it.
/// If no level has these pixels, they are white, and `SlideSource::left_out` reports that. If no pixel of a slide can
/// be read, the slide can't be read.
///
/// The steps are:
/// 1. `by` and `threshold` decide which pixels are tissue.
/// 2. Gaps of up to twice `closing` are closed. All pixels in a square around tissue become tissue. Then all pixels in
///    such a square around what is left become not tissue. The outside of the slide counts as neither.
/// 3. Pieces of tissue that are smaller than `least_area` are removed.
/// 4. Holes that are smaller than `least_area` are filled. Pixels belong together if they share a side.
struct SlideTissue {
  /// How tissue differs from glass.
  enum class By : std::uint8_t {
    everywhere,  ///< it is not looked for: all places are records
    saturation,  ///< stain has colour: tissue is above the threshold. The value is (max - min) / max of red, green and
                 ///< blue, scaled to 0 to 255 and rounded
    grey,  ///< tissue is darker: at most the threshold. The value is 0.299 red + 0.587 green + 0.114 blue, rounded
  };
  /// How tissue differs from glass.
  By by = By::everywhere;
  /// Share of a place's pixels of the mask that must be tissue, 0 to 1. With 0, at least one pixel must be. A place has
  /// the pixels whose centres are in it; if there are none, the pixel that the place's centre is in. The part outside
  /// of the slide doesn't count.
  double least = 0.1;
  /// Micrometres per pixel of the mask, at most: 1 to 200. A slide can't be read if its mask would have more than 134
  /// million pixels.
  double mpp = 16;
  /// Threshold for `by`, 1 to 254. Default (0): Otsu's threshold of each slide's own mask. It is at least 8 for
  /// saturation, and at most 245 for grey, so that a slide without tissue has none.
  int threshold = 0;
  /// Half the width of the gaps that are closed, in micrometres, rounded to pixels of the mask: 0 to 10,000.
  double closing = 32;
  /// Smallest area of pieces and of holes that stay, in square micrometres: 0 or more.
  double least_area = 20'000;
};

}  // namespace penstock
