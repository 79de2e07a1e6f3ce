// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock {

/// Which places of a slide are records, by the tissue that they show.
///
/// A small mask of the slide, with about `mpp` micrometres per pixel, decides. The mask is made of the coarsest stored
/// level that is not coarser than `mpp`. If all levels are coarser, it is made of level 0. A pixel of the mask is the
/// mean of k x k pixels of that level, rounded to the nearest whole number. The number k is the largest whole number
/// for which the mask is not coarser than `mpp`, and at least 1. At the right and lower edge, a pixel of the mask may
/// be the mean of fewer pixels. If a slide's file doesn't have the size of a pixel, level 0 is assumed to have half a
/// micrometre per pixel.
///
/// A level that can't be read counts as not stored. If a tile can't be read, its pixels are taken from coarser levels.
/// If no level has these pixels, they are white, and `SlideSource::left_out` reports that. If no pixel of a slide can
/// be read, the slide can't be read.
///
/// The steps are:
/// 1. `by` and `threshold` decide which pixels are tissue.
/// 2. Gaps of up to twice `closing` are closed. For this, all pixels in a square around a pixel of tissue become
///    tissue. Then all pixels in a square of the same size around a pixel that is not tissue become not tissue. Pixels
///    outside of the slide are neither.
/// 3. Pieces of tissue that are smaller than `least_area` are removed.
/// 4. Holes that are smaller than `least_area` are filled. In steps 3 and 4, pixels are neighbours only if they share a
///    side.
struct SlideTissue {
  /// How tissue differs from glass.
  enum class By : std::uint8_t {
    everywhere,  ///< tissue is not looked for: all places are records
    saturation,  ///< stains have colour: a pixel is tissue if its value is above the threshold. The value is
                 ///< (max - min) / max of red, green and blue, scaled to 0 to 255 and rounded
    grey,  ///< tissue is darker: a pixel is tissue if its value is at most the threshold. The value is 0.299 red +
           ///< 0.587 green + 0.114 blue, rounded
  };
  /// How tissue differs from glass.
  By by = By::everywhere;
  /// A place is a record if at least this share of its pixels in the mask is tissue. 0 to 1. With 0, at least one pixel
  /// must be tissue. The pixels of a place are all pixels whose centres are in the place. If there are none, the place
  /// has the pixel that contains the place's centre. The part of a place outside of the slide doesn't count.
  double least = 0.1;
  /// Largest size of a pixel of the mask, in micrometres: 1 to 200. A slide can't be read if its mask would have more
  /// than 134 million pixels.
  double mpp = 16;
  /// Threshold for `by`, 1 to 254. Default (0): Otsu's threshold of each slide's own mask, but at least 8 for
  /// saturation, and at most 245 for grey. So no tissue is found in a slide without tissue.
  int threshold = 0;
  /// Half the width of the gaps that are closed, in micrometres, rounded to pixels of the mask: 0 to 10,000.
  double closing = 32;
  /// Smallest area of pieces of tissue and of holes that are kept, in square micrometres: 0 or more.
  double least_area = 20'000;
};

}  // namespace penstock
