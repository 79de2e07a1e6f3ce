// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/transforms/image/stain_pixel.hpp>

namespace penstock {

/// Settings of `stain_jitter`. Both are result options. If both are 0, stains do not change.
struct StainJitterOptions {
  double alpha = 0;  ///< 0 to 1: the factor of each stain's concentration is uniform in [1 - alpha, 1 + alpha]
  double beta = 0;   ///< 0 to 10: the number added to each stain's concentration is uniform in [-beta, beta]
};

/// Changes how strongly tissue is stained, for images of haematoxylin and eosin (Tellez et al., IEEE Transactions
/// on Medical Imaging 37, 2018). Pixels become optical densities of R, G and B, D = -log((I + 1) / 256). Densities are
/// treated as mixtures of haematoxylin, eosin and DAB. The colours of these stains were measured by Ruifrok and
/// Johnston (Analytical and Quantitative Cytology and Histology 23, 2001). The numbers are those of scikit-image's
/// `rgb_from_hed`:
///
///     D = c M,   M = ((0.65, 0.70, 0.29), (0.07, 0.99, 0.11), (0.27, 0.57, 0.78))
///
/// Each stain's concentration c becomes alpha c + beta. Each stain's alpha and beta are drawn independently for each
/// image, as StainJitterOptions sets. Then densities become pixels again: I = 256 e^-D - 1, cut to [0, 255] and rounded
/// to the nearest.
///
/// The draws become one matrix and one offset, which are computed in binary64. Pixels are computed in binary32 without
/// contraction, with penstock's own logarithm and exponential, so the bits are the same on every CPU and GPU.
///
/// The stage changes whole images in place, so it does not fold with its neighbours. Put it after crops and resizes,
/// when images are small, and before `normalize`.
class PENSTOCK_API StainJitter {
 public:
  /// What was drawn for one image.
  using Params = StainChange;
  /// @throws Error(invalid_argument) if an option is outside its bounds.
  explicit StainJitter(const StainJitterOptions& options);
  /// Draws the change for one image. Draws the same number of random numbers whatever the options are.
  Params draw(Rng& rng) const;
  /// Returns the change that multiplies the concentrations of haematoxylin, eosin and DAB by `alpha` and adds `beta`.
  static Params params(const std::array<double, 3>& alpha, const std::array<double, 3>& beta);
  /// Changes one image in place. `image` is [H, W, 3]. @throws Error(unsupported) if the image has another number of
  /// channels.
  static void apply(const Params& params, View<std::uint8_t, 3> image);
  /// Returns the densities of all channel values, for custom kernels. The reference is valid as long as the program
  /// runs.
  static const OpticalDensities& densities();

  bool draws() const { return true; }
  std::uint64_t version() const { return 0; }
  void operator()(View<std::uint8_t, 3> image, Context& context) const { apply(draw(context.rng()), image); }
  /// @throws Error(schema_mismatch) if the number of channels is known and is not 3.
  void check(const Shape& image) const;
  std::string describe() const;

 private:
  StainJitterOptions options_;
};

/// Changes stains like `StainJitter`. `field`: u8 [H, W, 3], keeps its shape. The stage may stand before or after
/// `batch`. Its draws and results are the same in both places.
PENSTOCK_API Stage stain_jitter(std::string field, const StainJitterOptions& options);

}  // namespace penstock
