#pragma once

#include <array>
#include <string>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Result options of `random_resized_crop`.
struct RandomResizedCropOptions {
  std::array<double, 2> scale{0.08, 1};         ///< least and greatest share of the image's area, in (0, 1]
  std::array<double, 2> ratio{3. / 4, 4. / 3};  ///< least and greatest width / height, above 0
};

/// Keeps a random box and resizes it, as torchvision's RandomResizedCrop does: ten tries with a uniform share of the
/// area and a log-uniform ratio; then the largest box in the middle whose ratio is allowed.
class PENSTOCK_API RandomResizedCrop {
 public:
  /// What was drawn for one image.
  struct Params {
    /// What is cut out, in pixels.
    Box box;
  };
  /// @throws Error(invalid_argument) for an empty side, or for options outside their bounds or out of order.
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

/// `fields`, each: u8 [H, W, C] to [size.height, size.width, C].
PENSTOCK_API Stage random_resized_crop(ImageFields fields, Size size, const RandomResizedCropOptions& options = {});

}  // namespace penstock
