#pragma once

#include <cstdint>
#include <string>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Resizes to a fixed size; the image's aspect is not kept.
class PENSTOCK_API Resize {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) for an empty side.
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

/// Resizes so that the shorter side has a fixed length; the longer one is cut to whole pixels. A result with a side
/// above 65,535 pixels (a sliver of an image made wide): Error(unsupported).
class PENSTOCK_API ResizeShort {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) for a length below 1 or above 65,535.
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

/// `fields`, each: u8 [H, W, C] to [size.height, size.width, C].
PENSTOCK_API Stage resize(ImageFields fields, Size size);
/// `fields`, each: u8 [H, W, C] to [length, W * length / H, C] where H <= W, else to [H * length / W, length, C].
PENSTOCK_API Stage resize_short(ImageFields fields, std::int32_t length);

}  // namespace penstock
