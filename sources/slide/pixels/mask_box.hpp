// SPDX-License-Identifier: Apache-2.0
// The pixels of a mask that belong to a place of the grid.
#pragma once

#include <cstdint>

#include "file/scale/scale.hpp"
#include "pixels/slide_box.hpp"

namespace penstock::slide {

/// A level in small: each k x k of its pixels, including partial ones at its right and lower edge, are one pixel of a
/// mask.
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

/// Returns the pixels whose centres are in a box of the slide's image, and in the image; if there are none, the pixel
/// that contains the box's centre.
MaskBox mask_box(const Scale& scale, const MaskGrid& mask, const SlideBox& box) noexcept;

}  // namespace penstock::slide
