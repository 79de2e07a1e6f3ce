// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <penstock/transforms/image/stain_fit.hpp>

namespace penstock {

/// Whether to measure how each slide is stained, for `normalize_stain`, which then makes slides alike.
///
/// A slide's fit is the result of `fit_stain` over pixels as records have them, by `Slides::level`, `mpp` or
/// `magnification`. A coarser picture would have other stains, as its pixels are mixtures.
///
/// The pixels are chosen like this:
/// 1. The image that the grid divides is cut into squares of 128 x 128 pixels, from its top left corner on.
/// 2. A square has tissue if it has the centre of a pixel of the slide's mask that is tissue. At most `patches` squares
///    with tissue are read, spread evenly over them in the order of rows.
/// 3. In each square, the pixels count whose centres are in tissue.
///
/// The mask is the mask of `Slides::tissue`. If that is `everywhere`, it is a mask by saturation, with the default
/// settings of `SlideTissue`. `Slides::regions`, `size` and `stride` have no effect. Squares with a tile that can't be
/// read are left out.
///
/// A slide can't be read if its stains can't be measured, as it has too little tissue or only one colour. It has one
/// record, which is Error(unsupported). Slides without a record have no fit.
struct SlideStain {
  /// The method that measures stains. Default (none): stains are not measured.
  std::optional<StainMethod> method = {};
  /// Largest number of squares: 1 to 4096. Each takes up to 48 KiB while the slide is opened.
  std::int32_t patches = 256;
  /// Name of the field with the slide's fit: f32 [8] or [6], like `StainFit::values`.
  std::string field = "stain";
};

}  // namespace penstock
