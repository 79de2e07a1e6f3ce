// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Settings of `random_resized_crop`. All are result options.
struct RandomResizedCropOptions {
  std::array<double, 2> scale{0.08, 1};         ///< smallest and largest share of the image's area, in (0, 1]
  std::array<double, 2> ratio{3. / 4, 4. / 3};  ///< smallest and largest width / height of the box, 0.001 to 1,000
};

/// Keeps a random box and resizes it, like torchvision's RandomResizedCrop. Draws a uniform share of the area and a
/// log-uniform ratio, until the box fits into the image. If none of ten drawn boxes fits, takes the largest box with an
/// allowed ratio, in the middle of the image.
class PENSTOCK_API RandomResizedCrop {
 public:
  /// What was drawn for one image.
  struct Params {
    /// The box that is kept, in pixels.
    Box box;
  };
  /// @throws Error(invalid_argument) if a side is empty, an option is outside its bounds, or a largest value is below
  /// its smallest value.
  explicit RandomResizedCrop(Size size, const RandomResizedCropOptions& options = {});
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "random_resized_crop"; }
  std::uint64_t version() const { return 0; }
  bool resamples() const { return true; }
  std::string describe() const;

 private:
  Size size_;
  RandomResizedCropOptions options_;
  std::array<double, 2> log_ratio_;
};

/// Keeps a random box of `fields` and resizes it. Each: u8 [H, W, C], becomes [size.height, size.width, C]. A field
/// that is resampled by nearest may also be u16.
PENSTOCK_API Stage random_resized_crop(ImageFields fields, Size size, const RandomResizedCropOptions& options = {});

}  // namespace penstock
