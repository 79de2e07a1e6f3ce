#pragma once

#include <string>

#include <penstock/transforms/image/stage.hpp>

namespace penstock {

/// Turns by quarters x 90 degrees counter-clockwise; any integer.
class PENSTOCK_API Rot90 {
 public:
  struct Params {};
  /// Turns every image by `quarters` x 90 degrees counter-clockwise; any integer.
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

/// Turns by 0, 90, 180 or 270 degrees, each equally likely. H and W of the result are only known for a square image.
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

/// `fields`, each: u8 [H, W, C] to [W, H, C] for an odd number of quarters.
PENSTOCK_API Stage rot90(ImageFields fields, int quarters = 1);
/// `fields`, each: u8 [H, W, C] to the same or [W, H, C].
PENSTOCK_API Stage random_rot90(ImageFields fields);

}  // namespace penstock
