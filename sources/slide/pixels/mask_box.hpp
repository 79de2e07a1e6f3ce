// Which pixels of a mask a place of the grid has.
#pragma once

#include <cstdint>

#include "file/scale/scale.hpp"
#include "pixels/slide_box.hpp"

namespace penstock::slide {

/// A level in small: each k x k of its pixels, those at its right and lower edge included, are one pixel of a mask.
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

/// The pixels whose centres lie in a box of the slide's image, and in the image; where there are none, the one that its
/// centre lies in.
MaskBox mask_box(const Scale& scale, const MaskGrid& mask, const SlideBox& box) noexcept;

}  // namespace penstock::slide
