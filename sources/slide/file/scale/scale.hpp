// Which pixels records are made of: those of a stored level, or such a level made smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "file/level.hpp"
#include "file/scale/resolution.hpp"

namespace penstock::slide {

/// The size of a slide's image as records have it, and of what it is made of. A value.
struct Scale {
  std::int64_t width = 0, height = 0;    ///< size of the image that the grid lies on, in pixels
  std::int64_t width0 = 0, height0 = 0;  ///< size of level 0
  bool resampled = false;                ///< it is made of the stored level, which is larger; else it is that level

  /// Where a pixel of the image is at level 0: the nearest pixel.
  std::int64_t x_at_level_0(std::int64_t x) const noexcept { return scaled(x, width0, width); }
  std::int64_t y_at_level_0(std::int64_t y) const noexcept { return scaled(y, height0, height); }
  /// Where a pixel of level 0 is in the image.
  std::int64_t x_in_image(std::int64_t x) const noexcept { return scaled(x, width, width0); }
  std::int64_t y_in_image(std::int64_t y) const noexcept { return scaled(y, height, height0); }
  friend bool operator==(const Scale&, const Scale&) = default;

 private:
  static std::int64_t scaled(std::int64_t at, std::int64_t to, std::int64_t from) noexcept {
    return to == from ? at : (2 * at * to + from) / (2 * from);
  }
};

/// What size of pixels is asked for: at most one of the first three.
struct Wanted {
  std::int32_t level = 0;
  double mpp = 0, magnification = 0;
  double tolerance = 0;  ///< a share: a stored level that is so near is taken as it is
};

struct Choice {
  std::size_t level = 0;
  Scale scale;
};

/// Which stored level serves, and how large the image becomes. `levels` begin with the finest. `missing`: why there may
/// be others. @throws Error(unsupported), without the file's name, where the slide has no such level, where it doesn't
/// say how large its pixels are, and where level 0 is coarser than what is wanted.
Choice choose_level(const Wanted& wanted, std::span<const Level> levels, const Resolution& resolution,
                    const std::string& missing);

}  // namespace penstock::slide
