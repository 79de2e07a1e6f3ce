// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Turns an image by a fixed number of quarter turns.
class PENSTOCK_API Rot90 {
 public:
  struct Params {};
  /// Turns every image by `quarters` x 90 degrees counter-clockwise; `quarters` is any integer.
  explicit Rot90(int quarters) : quarters_((quarters % 4 + 4) % 4) {}
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "rot90"; }
  std::uint64_t version() const { return 0; }
  std::string describe() const;

 private:
  int quarters_;
};

/// Turns an image by 0, 90, 180 or 270 degrees, each equally likely. The schema has H and W of the result only if it
/// shows that the images are square.
class PENSTOCK_API RandomRot90 {
 public:
  /// What was drawn for one image.
  struct Params {
    /// Quarter turns counter-clockwise, 0 to 3.
    int quarters;
  };
  Params draw(const ImageShape& shape, Rng& rng) const;
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const;
  Shape schema(const Shape& in) const;
  std::string name() const { return "random_rot90"; }
  std::uint64_t version() const { return 0; }
};

/// Turns `fields` by `quarters` x 90 degrees counter-clockwise. Each: u8 or u16 [H, W, C]; with an odd number of
/// quarters it becomes [W, H, C].
PENSTOCK_API Stage rot90(ImageFields fields, int quarters = 1);
/// Turns `fields` by 0, 90, 180 or 270 degrees, each equally likely. Each: u8 or u16 [H, W, C], becomes [H, W, C] or
/// [W, H, C].
PENSTOCK_API Stage random_rot90(ImageFields fields);

}  // namespace penstock
