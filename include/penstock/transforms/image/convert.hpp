#pragma once

#include <string>
#include <vector>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Result options of `convert`.
struct ConvertOptions {
  DType dtype =
      DType::f32;  ///< f32, f16 or bf16 (rounded to nearest, ties to even), or the image's own with scale 1 and bias 0
  Layout layout = Layout::hwc;      ///< order of the result's dimensions
  std::vector<double> scale = {1};  ///< one for all channels, or one each; rounded to binary32
  std::vector<double> bias = {0};   ///< one for all channels, or one each; rounded to binary32
};

/// Ends the part of a chain that image stages can follow: element = value * scale + bias in binary32, rounded after
/// each of the two operations.
class PENSTOCK_API Convert {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) for another dtype, for no or more than 4 values, or for values that are not
  /// finite.
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

/// `field`: u8 or u16 [H, W, C] to options.dtype [H, W, C] or [C, H, W]. No image stage can follow on this field.
PENSTOCK_API Stage convert(std::string field, ConvertOptions options = {});

}  // namespace penstock
