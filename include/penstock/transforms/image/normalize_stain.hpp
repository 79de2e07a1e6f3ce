// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/tensor.hpp>
#include <penstock/transforms/image/stain_fit.hpp>

namespace penstock {

/// Settings of `normalize_stain`. All are result options.
struct NormalizeStainOptions {
  std::string fit = "stain";  ///< the field with the image's fit (how it is stained): f32 [8] or [6]
  /// How the image is to be stained. Default: `StainFit::reference` of the same method.
  std::optional<StainFit> target = {};
};

/// Changes the colours of each image so that tissue stained like the fit in the sample's field `fit` gets the stain of
/// `target`. For slides, `Slides::stain` makes the field `fit`; `fit_stain` measures the values of any image.
/// `field`: u8 [H, W, 3], RGB, keeps its shape.
///
/// Macenko: optical densities D = -log((I + 1) / 256) become
///
///     D' = target stains * (target concentrations / fit concentrations) * pseudoinverse(fit stains) * D
///
/// and I' = 256 e^-D' - 1. This loses colours that are neither of the two stains.
///
/// Reinhard: in l alpha beta (see `fit_stain`), v' = (v - mean) * target std / std + target mean. This applies to glass
/// too, which gets a tint. Results of both methods are cut to [0, 255] and rounded to the nearest.
///
/// White is 255 here, so that Macenko's method leaves glass as it is. Other code that follows Veta's, such as
/// torchstain, uses 240 (`Io`): D = -log((I + 1) / 240) and I' = 240 e^-D'. So its fits and images are different:
/// - With `Io = 256`, its fit is that of `fit_stain`. Its images are lighter by 1, because it does not subtract 1.
/// - With `Io = 240`, you get its result if you make images lighter before fit and normalizing, (I + 1) 256 / 240 - 1,
///   and darker afterwards, (I + 1) 240 / 256. Values above 239, before or after, are exceptions.
///
/// The target's values are the same for both. The fits of `Slides::stain` also have 255 as white.
///
/// The factors that follow from the two fits are computed in binary64. Pixels are computed in binary32 without
/// contraction, with penstock's own logarithm and exponential, so the bits are the same on every CPU. If no
/// concentration and no standard deviation grows more than tenfold, each value differs by at most 1 from the rounded
/// formula in binary64.
///
/// It works on whole images, in place, and therefore ends a fold. Put it after crops and resizes, when images are
/// small, and before `normalize`. It must stand before `batch`.
///
/// A sample with an invalid fit is an Error(corrupt): values that are not finite, stains less than one degree apart, or
/// concentrations or standard deviations that are not positive.
/// @throws Error(invalid_argument) if `target` is not a valid fit.
/// @throws Error(schema_mismatch) when it joins a pipeline, if that lacks one of the fields, or `target` is of the
/// other method.
PENSTOCK_API Stage normalize_stain(std::string field, NormalizeStainOptions options = {});

/// Normalizes one image in place, like the stage. `image`: [H, W, 3]. Any thread may call it.
/// @throws Error(unsupported) if the image does not have 3 channels.
/// @throws Error(invalid_argument) if the fits are of different methods.
/// @throws Error(corrupt) if a fit is invalid, as for the stage.
PENSTOCK_API void normalize_stain(View<std::uint8_t, 3> image, const StainFit& fit, const StainFit& target);

}  // namespace penstock
