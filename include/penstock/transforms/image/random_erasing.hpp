// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/extend/rng.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/tensor.hpp>

namespace penstock {

/// Settings of `random_erasing`. All are result options.
struct RandomErasingOptions {
  double probability = 0.5;                   ///< 0 to 1: how often an image gets a box
  std::array<double, 2> area = {0.02, 0.33};  ///< bounds of the box's share of the image, above 0 to 1
  std::array<double, 2> aspect = {0.3, 3.3};  ///< bounds of the box's height / width, 0.001 to 1000
  /// What the box is filled with: one value, or one for each channel, at most 4. For u8, whole numbers from 0 to 255.
  std::vector<double> value = {0};
  /// The image's layout. Default: the one in which channels are 1 to 4. Required if both are, or neither is, or if the
  /// size of images varies.
  std::optional<Layout> layout = {};
};

/// Fills a random box of an image with a value (Zhong et al., AAAI 2020), like torchvision's RandomErasing. The area is
/// uniform within its bounds, and the aspect ratio is log-uniform. Up to six sizes are drawn. The first one that fits
/// into the image is used; if none does, the image stays as it is.
class PENSTOCK_API RandomErasing {
 public:
  /// What was drawn for one image, whatever its size. All zeros: nothing is erased.
  struct Params {
    static constexpr int tries = 6;  ///< number of drawn sizes
    std::uint32_t erases = 0;        ///< 1: a box is erased
    float tall[tries] = {};          ///< height of the box / sqrt(H W)
    float wide[tries] = {};          ///< width of the box / sqrt(H W)
    std::uint32_t top = 0;           ///< where the box is: in parts of 2^32 of the room above and below it
    std::uint32_t left = 0;          ///< in parts of 2^32 of the room left and right of the box
  };
  /// @throws Error(invalid_argument) if an option is outside its bounds.
  explicit RandomErasing(const RandomErasingOptions& options);
  /// Draws the parameters for one image. Draws the same number of random numbers whatever the options are.
  Params draw(Rng& rng) const;
  /// Returns the box in an image of this size; empty if nothing is erased.
  static Box box(const Params& params, Size size);
  /// Copies an image from `in` to `out` and erases the box. @throws Error(schema_mismatch) like `result`.
  void apply(const Params& params, const TensorView& in, const TensorView& out) const;

  /// Returns `in`. @throws Error(schema_mismatch) if the stage does not take such images.
  TensorType result(const TensorType& in) const;
  bool draws() const { return true; }
  std::uint64_t version() const { return 0; }
  void operator()(const TensorView& in, const TensorView& out, Context& context) const {
    apply(draw(context.rng()), in, out);
  }
  std::string describe() const;
  /// The options.
  const RandomErasingOptions& options() const noexcept { return options_; }

 private:
  RandomErasingOptions options_;
  std::array<double, 2> log_aspect_{};
};

/// Erases boxes like `RandomErasing`. `field`: u8, f32, f16 or bf16, [H, W, C] or [C, H, W]; keeps its type. The stage
/// may stand before or after `batch`. Its draws and results are the same in both places.
PENSTOCK_API Stage random_erasing(std::string field, const RandomErasingOptions& options = {});

}  // namespace penstock
