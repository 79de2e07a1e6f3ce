#pragma once

#include <string>
#include <vector>

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

/// Result options of `random_crop`.
struct RandomCropOptions {
  /// Pixels put around the image before the box is chosen: at least 0, and below both sides of the box (half of them
  /// where they reflect).
  std::int32_t padding = 0;
  Padding::Mode mode = Padding::Mode::constant;  ///< what they are; reflect: images larger than `padding`
  std::vector<int> fill = {0};                   ///< constant: one value for all channels, or one each
  int label = 0;  ///< constant: the value in fields that are resampled by nearest, as masks are
};

/// Keeps a box of a fixed size, each of its places equally likely.
class PENSTOCK_API RandomCrop {
 public:
  /// What was drawn for one image: the corner of the crop, in pixels.
  struct Params {
    /// Pixels; of the padded image where it is padded.
    std::int32_t top, left;
  };
  /// @throws Error(invalid_argument) for an empty side, and for padding and values that are not as above.
  explicit RandomCrop(Size size, RandomCropOptions options = {});
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "random_crop"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const;

 private:
  std::int32_t padded(std::int32_t side) const;

  Size size_;
  RandomCropOptions options_;
};

/// `fields`, each: u8 or u16 [H, W, C] to [box.height, box.width, C].
PENSTOCK_API Stage crop(ImageFields fields, const Box& box);
/// `fields`, each: u8 or u16 [H, W, C] to [size.height, size.width, C].
PENSTOCK_API Stage center_crop(ImageFields fields, Size size);
/// `fields`, each: u8 or u16 [H, W, C] to [size.height, size.width, C]. As CIFAR is trained on:
/// `random_crop("image", {32, 32}, {.padding = 4})`.
PENSTOCK_API Stage random_crop(ImageFields fields, Size size, RandomCropOptions options = {});

}  // namespace penstock
