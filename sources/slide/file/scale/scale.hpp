// SPDX-License-Identifier: Apache-2.0
// The pixels that records are made of: a stored level, or a level scaled down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "file/level.hpp"
#include "file/scale/resolution.hpp"

namespace penstock::slide {

/// The size of the image that a slide's records are cut from, and the size of level 0. A value.
struct Scale {
  std::int64_t width = 0, height = 0;    ///< size of the image, in pixels
  std::int64_t width0 = 0, height0 = 0;  ///< size of level 0, in pixels
  bool resampled = false;                ///< the image is a stored level scaled down; otherwise it is a stored level

  /// Converts a coordinate of the image to level 0, rounded to a whole pixel.
  std::int64_t x_at_level_0(std::int64_t x) const noexcept { return scaled(x, width0, width); }
  std::int64_t y_at_level_0(std::int64_t y) const noexcept { return scaled(y, height0, height); }
  /// Converts a coordinate of level 0 to the image, rounded to a whole pixel.
  std::int64_t x_in_image(std::int64_t x) const noexcept { return scaled(x, width, width0); }
  std::int64_t y_in_image(std::int64_t y) const noexcept { return scaled(y, height, height0); }
  friend bool operator==(const Scale&, const Scale&) = default;

 private:
  static std::int64_t scaled(std::int64_t at, std::int64_t to, std::int64_t from) noexcept {
    return to == from ? at : (2 * at * to + from) / (2 * from);
  }
};

/// The requested size of pixels. At most one of `level`, `mpp` and `magnification` is not 0.
struct ScaleRequest {
  std::int32_t level = 0;
  double mpp = 0, magnification = 0;
  /// A stored level is used unscaled if its pixels differ from the requested size by at most this share.
  double tolerance = 0;
};

struct ScaleChoice {
  std::size_t level = 0;
  Scale scale;
};

/// Chooses the stored level to use, and the size of the image. `levels` begin with the finest. `missing`: why the file
/// may have more levels, for errors.
/// @throws Error(unsupported), without the file's name, if
/// - the slide has no such level, or the level can't be read;
/// - the choice depends on the size of the slide's pixels, which is unknown;
/// - each level that can be read is coarser than the requested size, by more than the tolerance.
ScaleChoice choose_level(const ScaleRequest& wanted, std::span<const Level> levels, const Resolution& resolution,
                         const std::string& missing);

}  // namespace penstock::slide
