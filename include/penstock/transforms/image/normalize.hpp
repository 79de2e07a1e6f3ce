#pragma once

#include <string>
#include <vector>

#include <penstock/transforms/image/convert.hpp>

namespace penstock {

/// Result options of `normalize`. ImageNet's are mean {0.485, 0.456, 0.406}, std {0.229, 0.224, 0.225}.
struct NormalizeOptions {
  std::vector<double> mean = {0};  ///< mean of values 0 to 1; one for all channels, or one each
  std::vector<double> std = {1};   ///< standard deviation of values 0 to 1, above 0; one for all channels, or one each
  DType dtype = DType::f32;        ///< type of the result's elements: f32, f16 or bf16
  Layout layout = Layout::chw;     ///< order of the result's dimensions
};

/// (value / 255 - mean) / std, computed as value * scale + bias with scale = 1 / (255 std) and bias = -mean / std, each
/// rounded once to binary32. For values of 16 bits, 65535 stands in the place of 255.
class PENSTOCK_API Normalize {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) for another dtype, for no or more than 4 values, for a mean that is not 0 to 1 (of
  /// values 0 to 255 divide mean and std by 255), or for a std that is not above 0.
  explicit Normalize(NormalizeOptions options);
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in, DType& dtype) const;
  std::string name() const { return "normalize"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const;

 private:
  NormalizeOptions options_;
  Convert convert_, wide_;  // the conversions for values of 8 and of 16 bits
};

/// `field`: u8 [H, W, C] to f32, f16 or bf16 [C, H, W] (or [H, W, C]). No image stage can follow on this field.
PENSTOCK_API Stage normalize(std::string field, NormalizeOptions options = {});

}  // namespace penstock
