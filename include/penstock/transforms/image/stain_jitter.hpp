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

/// Result options of `stain_jitter`. 0 leaves the stains as they are.
struct StainJitterOptions {
  double alpha = 0;  ///< each stain's factor, uniform in [1 - a, 1 + a]; at most 1
  double beta = 0;   ///< what is added to each stain, as an optical density to base e, uniform in [-b, b]; at most 10
};

/// Changes how strongly tissue is stained, for images of haematoxylin and eosin (Tellez et al., IEEE Transactions
/// on Medical Imaging 37, 2018). Pixels become optical densities, D = -log((I + 1) / 256) of R, G and B; densities are
/// mixtures of haematoxylin, eosin and DAB, with the colours that Ruifrok and Johnston measured (Analytical and
/// Quantitative Cytology and Histology 23, 2001; the numbers of scikit-image's `rgb_from_hed`):
///
///     D = c M,   M = ((0.65, 0.70, 0.29), (0.07, 0.99, 0.11), (0.27, 0.57, 0.78))
///
/// Each stain's concentration c becomes alpha c + beta, each alpha and beta drawn by itself for each image, and the way
/// goes back: I = 256 e^-D - 1, cut to [0, 255] and rounded to the nearest.
///
/// What is drawn is put into one matrix in binary64, and pixels are worked on in binary32 without contraction, with a
/// logarithm and an exponential of our own: the same bits on every CPU and GPU.
///
/// It works on whole images, in place, and therefore ends a fold: put it after crops and resizes, where pixels are
/// few, and before `normalize`.
class PENSTOCK_API StainJitter {
 public:
  /// What was drawn for one image.
  using Params = StainChange;
  /// @throws Error(invalid_argument) for options outside their bounds.
  explicit StainJitter(const StainJitterOptions& options);
  /// Takes as many random numbers whatever the options are.
  Params draw(Rng& rng) const;
  /// The change that multiplies the concentrations of haematoxylin, eosin and DAB by `alpha` and adds `beta`.
  static Params params(const std::array<double, 3>& alpha, const std::array<double, 3>& beta);
  /// `image`: [H, W, 3]. @throws Error(unsupported) for others.
  static void apply(const Params& params, View<std::uint8_t, 3> image);
  /// The densities of all levels, for kernels of one's own. Live as long as the program.
  static const StainDensities& densities();

  bool draws() const { return true; }
  std::uint64_t version() const { return 0; }
  void operator()(View<std::uint8_t, 3> image, Context& context) const { apply(draw(context.rng()), image); }
  /// @throws Error(schema_mismatch) for images that are known to have other than 3 channels.
  void check(const Shape& image) const;
  std::string describe() const;

 private:
  StainJitterOptions options_;
};

/// `field`: u8 [H, W, 3], which keeps its shape. Before `batch`, or after it with the same draws and bits.
PENSTOCK_API Stage stain_jitter(std::string field, const StainJitterOptions& options);

}  // namespace penstock
