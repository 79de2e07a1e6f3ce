#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/tensor.hpp>
#include <penstock/transforms/image/stain_fit.hpp>

namespace penstock {

/// Result options of `normalize_stain`.
struct NormalizeStainOptions {
  std::string fit = "stain";            ///< the field that says how the image is stained: f32 [8] or [6]
  std::optional<StainFit> target = {};  ///< how it is to be stained; default: `StainFit::reference` of the same method
};

/// `field`: u8 [H, W, 3], RGB, which keeps its shape. Changes the colours of each image so that what is stained as the
/// sample's field `fit` says comes to be stained as `target` says: of slides, `Slides::stain` makes such a field, and
/// `fit_stain` tells the values of any image.
///
/// Macenko: optical densities D = -log((I + 1) / 256) become
///
///     D' = target stains * (target concentrations / fit concentrations) * pseudoinverse(fit stains) * D
///
/// and I' = 256 e^-D' - 1. What is neither of the two stains is lost by that. Reinhard: in l alpha beta (`fit_stain`
/// says how), v' = (v - mean) * target std / std + target mean. That is done to glass, too, which gets a tint. Results
/// are cut to [0, 255] and rounded to the nearest.
///
/// White is 255 here, so that glass stays as it is. torchstain and others that follow Veta's code take 240 (`Io`): D =
/// -log((I + 1) / 240), I' = 240 e^-D'. Both fits and images differ by that. Theirs with `Io = 256` has the fit of
/// `fit_stain`, and images that are lighter by 1, which they don't take away. Theirs with 240 comes of images made
/// lighter before fit and normalizing, (I + 1) 256 / 240 - 1, and darker after it, (I + 1) 240 / 256, but for what is
/// above 239 in either. The target's values are the same for both. Slides have their fits (`Slides::stain`) with 255 as
/// white.
///
/// What follows from the two fits is worked out in binary64, and pixels are worked on in binary32 without contraction,
/// with a logarithm and an exponential of our own: the same bits on every CPU. No value is more than 1 from the formula
/// in binary64, rounded, where no concentration and no standard deviation is to grow more than tenfold.
///
/// It works on whole images, in place, and therefore ends a fold: put it after crops and resizes, where pixels are few,
/// and before `normalize`. It stands before `batch`.
///
/// A sample whose fit can't be one is an error: Error(corrupt) for values that are not finite, stains less than a
/// degree apart, and concentrations and standard deviations that are not positive.
/// @throws Error(invalid_argument) for a `target` that is no such fit; Error(schema_mismatch) where it joins a pipeline
/// without these fields, or where `target` is of the other method.
PENSTOCK_API Stage normalize_stain(std::string field, NormalizeStainOptions options = {});

/// Normalizes one image, in place, as the stage does. `image`: [H, W, 3]. Any thread.
/// @throws Error(unsupported) for other than 3 channels, Error(invalid_argument) for fits of different methods, and
/// Error(corrupt) for what can't be a fit, as the stage.
PENSTOCK_API void normalize_stain(View<std::uint8_t, 3> image, const StainFit& fit, const StainFit& target);

}  // namespace penstock
