#pragma once

#include <string>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Result option of the random flips.
struct FlipOptions {
  double p = 0.5;  ///< how likely a flip is, 0 to 1
};

/// Exchanges left and right (horizontal), or top and bottom, always.
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

/// Exchanges left and right (horizontal), or top and bottom, with probability p.
class PENSTOCK_API RandomFlip {
 public:
  /// Which way an image is flipped.
  using Axis = Flip::Axis;
  /// What was drawn for one image.
  struct Params {
    /// Whether it is flipped.
    bool flip;
  };
  /// @throws Error(invalid_argument) for a p outside 0 to 1.
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

/// Each on `fields`: u8 [H, W, C], whose shape stays as it is.
PENSTOCK_API Stage flip_horizontal(ImageFields fields);
/// Top and bottom.
PENSTOCK_API Stage flip_vertical(ImageFields fields);
/// Left and right.
PENSTOCK_API Stage random_flip(ImageFields fields, FlipOptions options = {});
/// Top and bottom.
PENSTOCK_API Stage random_flip_vertical(ImageFields fields, FlipOptions options = {});

}  // namespace penstock
