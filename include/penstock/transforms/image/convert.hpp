// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Settings of `convert`. All are result options.
struct ConvertOptions {
  /// Dtype of the result: f32, f16 or bf16 (rounded to nearest, ties to even). With scale 1 and bias 0, it may also be
  /// the image's own dtype.
  DType dtype = DType::f32;
  Layout layout = Layout::hwc;      ///< order of the result's dimensions
  std::vector<double> scale = {1};  ///< one value for all channels, or one per channel; rounded to binary32
  std::vector<double> bias = {0};   ///< one value for all channels, or one per channel; rounded to binary32
};

/// Converts each value: element = value * scale + bias in binary32, rounded after each of the two operations. No image
/// stage can follow on this field.
class PENSTOCK_API Convert {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) if `dtype` has a value that ConvertOptions does not allow, or if `scale` or `bias`
  /// does not have 1 to 4 finite values.
  explicit Convert(ConvertOptions options);
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in, DType& dtype) const;
  std::string name() const { return "convert"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const;

 private:
  ConvertOptions options_;
};

/// Converts an image's values to `options.dtype`. `field`: u8 or u16 [H, W, C], becomes [H, W, C] or [C, H, W]. No
/// image stage can follow on this field.
PENSTOCK_API Stage convert(std::string field, ConvertOptions options = {});

}  // namespace penstock
