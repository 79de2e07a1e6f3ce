// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Settings of `letterbox`. All are result options.
struct LetterboxOptions {
  /// What surrounds the picture: one value for all channels, or one per channel.
  std::vector<int> fill = {114};
  /// The value that surrounds fields that are resampled by nearest, such as masks.
  int label = 0;
};

/// Resizes an image into a box and keeps its aspect; see `letterbox`.
class PENSTOCK_API Letterbox {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) if a side is empty, or an option has a value that no image has.
  explicit Letterbox(Size size, LetterboxOptions options = {});
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "letterbox"; }
  std::uint64_t version() const { return 0; }
  bool resamples() const { return true; }
  std::string describe() const;

  /// Returns where a picture of this size is in the result.
  Box inner(Size picture) const noexcept;

 private:
  Size size_;
  LetterboxOptions options_;
};

/// Resizes the picture to the largest size that fits into `size` with its aspect, and surrounds it by `fill`. A side
/// that does not fill the box is rounded to the nearest pixel, and is at least 1. If opposite margins can't be equal,
/// the lower or right one has a pixel more. `fields`, each: u8 [H, W, C], becomes [size.height, size.width, C]. A field
/// that is resampled by nearest may also be u16.
PENSTOCK_API Stage letterbox(ImageFields fields, Size size, LetterboxOptions options = {});

}  // namespace penstock
