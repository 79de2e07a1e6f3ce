// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/transforms/image/convert.hpp>

namespace penstock {

/// Settings of `normalize`. All are result options.
/// For ImageNet: mean {0.485, 0.456, 0.406}, std {0.229, 0.224, 0.225}.
struct NormalizeOptions {
  /// Mean of values scaled to 0 to 1: one mean for all channels, or one per channel.
  std::vector<double> mean = {0};
  /// Standard deviation of values scaled to 0 to 1; must be above 0. One deviation for all channels, or one per
  /// channel.
  std::vector<double> std = {1};
  DType dtype = DType::f32;     ///< dtype of the result: f32, f16 or bf16
  Layout layout = Layout::chw;  ///< order of the result's dimensions
};

/// Replaces each value by (value / 255 - mean) / std. The result is computed as value * scale + bias, with scale = 1 /
/// (255 std) and bias = -mean / std, each rounded once to binary32. For values of 16 bits, 65535 replaces 255.
class PENSTOCK_API Normalize {
 public:
  struct Params {};
  /// If your mean and std are for values from 0 to 255, divide both by 255.
  /// @throws Error(invalid_argument) if
  /// - the dtype is not f32, f16 or bf16;
  /// - `mean` or `std` does not have 1 to 4 values;
  /// - `mean` and `std` both have several values, but different numbers of values;
  /// - a mean is not 0 to 1, or a std is not above 0;
  /// - a std is so small that scale or bias would be infinite in f32.
  explicit Normalize(NormalizeOptions options);
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in, DType& dtype) const;
  std::string name() const { return "normalize"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const;

 private:
  NormalizeOptions options_;
  Convert convert_, wide_;  // convert_ is for values of 8 bits, wide_ for values of 16 bits
};

/// Normalizes the values of an image. `field`: u8 or u16 [H, W, C], becomes f32, f16 or bf16 [C, H, W] (or [H, W, C]).
/// No image stage can follow on this field.
PENSTOCK_API Stage normalize(std::string field, NormalizeOptions options = {});

}  // namespace penstock
