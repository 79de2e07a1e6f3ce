// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <penstock/transforms/image/stain_fit.hpp>

namespace penstock {

/// Whether to measure how each slide is stained. With the result, `normalize_stain` makes the colours of slides
/// similar.
///
/// A slide's fit is the result of `fit_stain` over pixels of the same size as those of records (`Slides::level`, `mpp`
/// or `magnification`). A coarser picture would have other stains, because its pixels are mixtures.
///
/// The pixels are chosen like this:
/// 1. The image that the grid divides is cut into squares of 128 x 128 pixels, from its top left corner on.
/// 2. A square has tissue if the slide's mask has a pixel of tissue whose centre is in the square. At most `patches`
///    squares with tissue are read. They are spread evenly over all squares with tissue, counted row by row.
/// 3. In each square, only pixels whose centres are in tissue are used.
///
/// The mask is that of `Slides::tissue`. If `tissue.by` is `everywhere`, the mask is made by saturation, with the
/// default settings of `SlideTissue`. `Slides::regions`, `size` and `stride` have no effect. Squares with a tile that
/// can't be read are left out.
///
/// A slide can't be read if its stains can't be measured, for instance because it has too little tissue or only one
/// colour. Such a slide has one record, which is Error(unsupported). Slides without records have no fit.
struct SlideStain {
  /// The method that measures stains. Default (none): stains are not measured.
  std::optional<StainMethod> method = {};
  /// Largest number of squares that are read: 1 to 4096. Each square takes up to 48 KiB of memory while the slide is
  /// opened.
  std::int32_t patches = 256;
  /// Name of the field with the slide's fit: f32 [8] or [6], like `StainFit::values`.
  std::string field = "stain";
};

}  // namespace penstock
