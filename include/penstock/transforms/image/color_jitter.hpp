// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `color_jitter`. All are result options. A property whose option is 0 does not change.
struct ColorJitterOptions {
  double brightness = 0;  ///< b, 0 to 100: the factor is uniform in [max(0, 1 - b), 1 + b]
  double contrast = 0;    ///< c, 0 to 100: the factor is uniform in [max(0, 1 - c), 1 + c]
  double saturation = 0;  ///< s, 0 to 100: the factor is uniform in [max(0, 1 - s), 1 + s]
  double hue = 0;         ///< h, 0 to 0.5: the turns of the colour circle are uniform in [-h, h]
};

/// Changes brightness, contrast, saturation and hue by random amounts in a random order, like torchvision's
/// ColorJitter. Each result is rounded to 8 bits before the next operation. Below, v is one of R, G and B, and f is the
/// factor. L is (19595 R + 38470 G + 7471 B + 32768) / 65536, rounded down (ITU-R BT.601, like Pillow's "L"):
///
///     brightness   v' = f v
///     contrast     v' = m + f (v - m), where m is the mean of L over the image
///     saturation   v' = L + f (v - L)
///     hue          H of HSV is turned. With V = max, C = max - min, h = H in sixths (Smith, SIGGRAPH '78),
///                  R, G, B = V - C clamp(min(k, 4 - k), 0, 1) for k = (5, 3, 1 + h) mod 6
///
/// Values are computed in binary32 without contraction, so the bits are the same on every CPU and in the kernel for
/// GPUs.
///
/// The stage changes whole images in place, so it does not fold with its neighbours. Put it after crops and resizes,
/// when images are small, and before `normalize`.
class PENSTOCK_API ColorJitter {
 public:
  /// The operations on an image.
  enum Operation : std::uint8_t { brightness, contrast, saturation, hue };
  /// What was drawn for one image.
  struct Params {
    float brightness = 1, contrast = 1, saturation = 1;  ///< factors
    float hue = 0;                                       ///< turns of the colour circle
    /// The order of the operations.
    std::array<Operation, 4> order{ColorJitter::brightness, ColorJitter::contrast, ColorJitter::saturation,
                                   ColorJitter::hue};
  };
  /// @throws Error(invalid_argument) if an option is outside its bounds.
  explicit ColorJitter(const ColorJitterOptions& options);
  /// Draws the parameters for one image. Draws the same number of random numbers whatever the options are.
  Params draw(Rng& rng) const;
  /// Changes one image in place. `image` is [H, W, 3], or [H, W, 1], which saturation and hue do not change. @throws
  /// Error(unsupported) if the image has another number of channels.
  static void apply(const Params& params, View<std::uint8_t, 3> image);

  bool draws() const { return true; }
  std::uint64_t version() const { return 0; }
  void operator()(View<std::uint8_t, 3> image, Context& context) const { apply(draw(context.rng()), image); }
  /// @throws Error(schema_mismatch) if the number of channels is known and is not 1 or 3.
  void check(const Shape& image) const;
  std::string describe() const;

 private:
  ColorJitterOptions options_;
};

/// Changes colours like `ColorJitter`. `field`: u8 [H, W, 3] or [H, W, 1], keeps its shape. The stage may stand before
/// or after `batch`. Its draws and results are the same in both places.
PENSTOCK_API Stage color_jitter(std::string field, const ColorJitterOptions& options);

}  // namespace penstock
