// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Keeps a fixed box. For all three stages of this header: if an image, with its padding, does not contain the box, the
/// sample is a bad sample: Error(unsupported). If the schema shows already that no image contains the box, joining a
/// pipeline throws Error(schema_mismatch).
class PENSTOCK_API Crop {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) if the box has an empty side or a negative corner.
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

/// Keeps a box of a fixed size in the middle of the image. If opposite margins can't be equal, the box is half a pixel
/// above or left of the middle.
class PENSTOCK_API CenterCrop {
 public:
  struct Params {};
  /// @throws Error(invalid_argument) if a side is empty.
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

/// Settings of `random_crop`. All are result options.
struct RandomCropOptions {
  /// Width of the margin that is added around the image before the box is chosen, in pixels. At least 0, and less than
  /// each side of the box; for `reflect`, less than half of each side of the box.
  std::int32_t padding = 0;
  Padding::Mode mode =
      Padding::Mode::constant;  ///< what the margin shows. `reflect` needs images with sides above `padding`
  std::vector<int> fill = {0};  ///< `constant`: one value for all channels, or one per channel
  int label = 0;                ///< `constant`: the value in fields that are resampled by nearest, such as masks
};

/// Keeps a box of a fixed size at a random place; all places are equally likely.
class PENSTOCK_API RandomCrop {
 public:
  /// What was drawn for one image: the top left corner of the box.
  struct Params {
    /// The corner, in pixels of the padded image.
    std::int32_t top, left;
  };
  /// @throws Error(invalid_argument) if a side is empty, or an option has a value that RandomCropOptions does not
  /// allow.
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

/// Keeps a fixed box. `fields`, each: u8 or u16 [H, W, C], becomes [box.height, box.width, C].
PENSTOCK_API Stage crop(ImageFields fields, const Box& box);
/// Keeps a box in the middle of the image. `fields`, each: u8 or u16 [H, W, C], becomes [size.height, size.width, C].
PENSTOCK_API Stage center_crop(ImageFields fields, Size size);
/// Keeps a box at a random place. `fields`, each: u8 or u16 [H, W, C], becomes [size.height, size.width, C].
/// For instance, training on CIFAR usually has `random_crop("image", {32, 32}, {.padding = 4})`.
PENSTOCK_API Stage random_crop(ImageFields fields, Size size, RandomCropOptions options = {});

}  // namespace penstock
