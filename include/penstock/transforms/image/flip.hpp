// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Settings of the random flips.
struct FlipOptions {
  double p = 0.5;  ///< result option: probability of a flip, 0 to 1
};

/// Always exchanges left and right (horizontal), or top and bottom (vertical).
class PENSTOCK_API Flip {
 public:
  /// Which way an image is flipped.
  enum class Axis : std::uint8_t { horizontal, vertical };
  struct Params {};
  /// Flips every image.
  explicit Flip(Axis axis) : axis_(axis) {}
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  std::string name() const { return axis_ == Axis::horizontal ? "flip_horizontal" : "flip_vertical"; }
  std::uint64_t version() const { return 0; }

 private:
  Axis axis_;
};

/// Exchanges left and right (horizontal), or top and bottom (vertical), with probability `p`.
class PENSTOCK_API RandomFlip {
 public:
  /// Which way an image is flipped.
  using Axis = Flip::Axis;
  /// What was drawn for one image.
  struct Params {
    /// Whether the image is flipped.
    bool flip;
  };
  /// @throws Error(invalid_argument) if `p` is not 0 to 1.
  explicit RandomFlip(Axis axis, FlipOptions options = {});
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  std::string name() const { return axis_ == Axis::horizontal ? "random_flip" : "random_flip_vertical"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const;

 private:
  Axis axis_;
  double p_;
};

/// Exchanges left and right. `fields`, each: u8 or u16 [H, W, C], keeps its shape.
PENSTOCK_API Stage flip_horizontal(ImageFields fields);
/// Exchanges top and bottom. `fields`, each: u8 or u16 [H, W, C], keeps its shape.
PENSTOCK_API Stage flip_vertical(ImageFields fields);
/// Exchanges left and right with probability `p`. `fields`, each: u8 or u16 [H, W, C], keeps its shape.
PENSTOCK_API Stage random_flip(ImageFields fields, FlipOptions options = {});
/// Exchanges top and bottom with probability `p`. `fields`, each: u8 or u16 [H, W, C], keeps its shape.
PENSTOCK_API Stage random_flip_vertical(ImageFields fields, FlipOptions options = {});

}  // namespace penstock
