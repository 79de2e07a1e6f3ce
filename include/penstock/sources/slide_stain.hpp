#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <penstock/transforms/image/stain_fit.hpp>

namespace penstock {

/// Whether it is measured how each slide is stained, for `normalize_stain`, which then makes slides alike.
///
/// A slide's fit is that of `fit_stain` over pixels as records have them, from its `Slides::level`, `mpp` or
/// `magnification`: a coarser picture would have other stains, as its pixels are mixtures. The image that the grid lies
/// on is divided into squares of 128 x 128 pixels, from its top left corner on. Those count in which the centre of a
/// pixel of the slide's mask lies that is tissue; of these at most `patches` are read, spread evenly over them in the
/// order of rows. Of each, the pixels are taken whose centres lie in tissue. The mask is that of `Slides::tissue`, and
/// where that is `everywhere`, one by saturation, with the other settings of `SlideTissue` as they are by themselves.
/// `Slides::regions`, `size` and `stride` have no say. Squares of which a tile can't be read are left out.
///
/// A slide whose stains can't be told, as it shows too little tissue or one colour alone, can't be read: it has one
/// record, which is Error(unsupported). Slides without a record have no fit.
struct SlideStain {
  /// The method by which stains are measured; none: they are not.
  std::optional<StainMethod> method = {};
  /// How many squares at most: 1 to 4096. Each takes up to 48 KiB while the slide is opened.
  std::int32_t patches = 256;
  /// The field of records that has the slide's fit: f32 [8] or [6], as `StainFit::values`.
  std::string field = "stain";
};

}  // namespace penstock
