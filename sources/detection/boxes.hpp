// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock::detection {

/// Number of values of a box: four numbers, and the visible share.
inline constexpr std::int64_t box_values = 5;
/// The visible share of boxes as they are in files.
inline constexpr float whole_share = 1;

/// What a box covers.
enum class BoxArea : std::uint8_t {
  some,
  none,      ///< its width or height is 0
  negative,  ///< its width or height is below 0
};

/// Returns what a box with this width and height covers.
constexpr BoxArea area_of(float width, float height) noexcept {
  if (width < 0 || height < 0) return BoxArea::negative;
  return width == 0 || height == 0 ? BoxArea::none : BoxArea::some;
}

}  // namespace penstock::detection
