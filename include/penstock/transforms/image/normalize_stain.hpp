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
  std::string fit = "stain";  ///< the field with the image's fit: f32 [8] (Macenko) or f32 [6] (Reinhard)
  /// The fit that the image gets. Default: `StainFit::reference` for the method of the image's fit.
  std::optional<StainFit> target = {};
};

/// Changes the colours of each image so that the image looks stained like `target`. The field `fit` says how the image
/// is stained. For slides, `Slides::stain` makes this field. For other images, `fit_stain` measures the fit.
/// `field`: u8 [H, W, 3], RGB, keeps its shape.
///
/// Macenko: optical densities D = -log((I + 1) / 256) become
///
///     D' = target stains * (target concentrations / fit concentrations) * pseudoinverse(fit stains) * D
///
/// and I' = 256 e^-D' - 1. Colours that are not a mixture of the two stains are lost.
///
/// Reinhard: each value v of the space l alpha beta (see `fit_stain`) becomes v' = (v - mean) * target std / std +
/// target mean. Glass is changed too, and gets a tint. Results of both methods are cut to [0, 255] and rounded to the
/// nearest.
///
/// White is 255 here, so Macenko's method does not change glass. Other implementations that follow Veta's, such as
/// torchstain, use 240 as white (`Io`): D = -log((I + 1) / 240) and I' = 240 e^-D'. So their fits and images are
/// different:
/// - With `Io = 256`, their fits are equal to those of `fit_stain`. Their images are lighter by 1, because they do not
///   subtract 1.
/// - To get their results for `Io = 240`, replace each value I by (I + 1) 256 / 240 - 1 before fitting and normalizing,
///   and by (I + 1) 240 / 256 afterwards. Values that are above 239 before or afterwards still differ.
///
/// With either white, use the same values of `target`. The fits of `Slides::stain` have 255 as white, too.
///
/// The factors that follow from the two fits are computed in binary64. Pixels are computed in binary32 without
/// contraction, with penstock's own logarithm and exponential, so the bits are the same on every CPU. If no
/// concentration and no standard deviation grows more than tenfold, each value differs by at most 1 from the formula's
/// rounded result in binary64.
///
/// The stage changes whole images in place, so it does not fold with its neighbours. Put it after crops and resizes,
/// when images are small, and before `normalize`. It must stand before `batch`.
///
/// Errors of one sample: unsupported if the fit does not have 8 or 6 values, or is not of the method of `target`;
/// corrupt if the fit is invalid. A fit is invalid if a value is not finite, if the two stains are less than one degree
/// apart, or if a concentration or standard deviation is not positive.
/// @throws Error(invalid_argument) if `target` is not a valid fit.
/// @throws Error(schema_mismatch) when it joins a pipeline, if
/// - one of the two fields is missing, or does not have the dtype and shape above;
/// - `target` and the field `fit` are of different methods.
PENSTOCK_API Stage normalize_stain(std::string field, NormalizeStainOptions options = {});

/// Normalizes one image in place, like the stage. `image` is [H, W, 3]. Any thread may call it.
/// @throws Error(unsupported) if the image does not have 3 channels.
/// @throws Error(invalid_argument) if the fits are of different methods.
/// @throws Error(corrupt) if a fit is invalid, as for the stage.
PENSTOCK_API void normalize_stain(View<std::uint8_t, 3> image, const StainFit& fit, const StainFit& target);

}  // namespace penstock
