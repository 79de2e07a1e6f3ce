// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Resizes to a fixed size. Does not keep the image's aspect.
class PENSTOCK_API Resize {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) if a side is empty.
  explicit Resize(Size size);
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "resize"; }
  std::uint64_t version() const { return 0; }
  bool resamples() const { return true; }
  std::string describe() const;

 private:
  Size size_;
};

/// Resizes so that the shorter side has a fixed length. Keeps the image's aspect; the longer side is rounded down to
/// whole pixels. If the longer side would be above 65,535 pixels, the sample is a bad sample: Error(unsupported).
class PENSTOCK_API ResizeShort {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) if the length is not 1 to 65,535.
  explicit ResizeShort(std::int32_t length);
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "resize_short"; }
  std::uint64_t version() const { return 0; }
  bool resamples() const { return true; }
  std::string describe() const;

 private:
  std::int32_t length_;
};

/// Resizes to a fixed size. `fields`, each: u8 [H, W, C], becomes [size.height, size.width, C]. A field that is
/// resampled by nearest may also be u16.
PENSTOCK_API Stage resize(ImageFields fields, Size size);
/// Resizes so that the shorter side is `length`. `fields`, each: u8 [H, W, C], becomes [length, W * length / H, C] if
/// H <= W, else [H * length / W, length, C]. A field that is resampled by nearest may also be u16.
PENSTOCK_API Stage resize_short(ImageFields fields, std::int32_t length);

}  // namespace penstock
