// SPDX-License-Identifier: Apache-2.0
// The pixels of a mask that belong to a place of the grid.
#pragma once

#include <cstdint>

#include "file/scale/scale.hpp"
#include "pixels/slide_box.hpp"

namespace penstock::slide {

/// The sizes of a mask, and of the level that it is made of. Each k x k pixels of the level are one pixel of the mask.
/// At the level's right and lower edge, a pixel of the mask may be made of fewer pixels.
struct MaskGrid {
  std::int64_t level_width = 0, level_height = 0;
  std::int32_t k = 1;
  std::int32_t width = 0, height = 0;  ///< pixels of the mask
};

/// Pixels of a mask: [left, right) x [top, bottom).
struct MaskBox {
  std::int32_t left = 0, top = 0, right = 0, bottom = 0;
  std::uint64_t pixels() const noexcept {
    return static_cast<std::uint64_t>(right - left) * static_cast<std::uint64_t>(bottom - top);
  }
};

/// Returns the mask's pixels whose centres are in a box of the slide's image, and inside of the image. If there is no
/// such pixel, returns the pixel that contains the box's centre.
MaskBox mask_box(const Scale& scale, const MaskGrid& mask, const SlideBox& box) noexcept;

}  // namespace penstock::slide
