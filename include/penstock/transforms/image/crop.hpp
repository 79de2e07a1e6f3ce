#pragma once

#include <string>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Keeps a fixed box. An image that does not hold it: Error(unsupported); where the schema shows it,
/// Error(schema_mismatch) when the stage joins a pipeline. So for the three stages of this header.
class PENSTOCK_API Crop {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) for a box with an empty side or a negative corner.
  explicit Crop(const Box& box);
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "crop"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const;

 private:
  Box box_;
};

/// Keeps a box of a fixed size from the middle; with an odd rest the box is the half pixel further up or left.
class PENSTOCK_API CenterCrop {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) for an empty side.
  explicit CenterCrop(Size size);
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "center_crop"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const;

 private:
  Size size_;
};

/// Keeps a box of a fixed size, each of its places equally likely.
class PENSTOCK_API RandomCrop {
 public:
  struct Params {
    std::int32_t top, left;
  };
  /// @throws Error(invalid_argument) for an empty side.
  explicit RandomCrop(Size size);
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "random_crop"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const;

 private:
  Size size_;
};

/// `fields`, each: u8 [H, W, C] to [box.height, box.width, C].
PENSTOCK_API Stage crop(ImageFields fields, const Box& box);
/// `fields`, each: u8 [H, W, C] to [size.height, size.width, C].
PENSTOCK_API Stage center_crop(ImageFields fields, Size size);
/// `fields`, each: u8 [H, W, C] to [size.height, size.width, C].
PENSTOCK_API Stage random_crop(ImageFields fields, Size size);

}  // namespace penstock
