// SPDX-License-Identifier: Apache-2.0
// The picture of a whole slide, and how positions on the slide become pixels of the picture.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "file/slide_file.hpp"
#include "picture/bitmap.hpp"
#include "pixels/level_pixels.hpp"
#include "pixels/mask_box.hpp"
#include "pixels/slide_box.hpp"

namespace penstock::slide {

/// A stored level, of which k x k pixels are one pixel of the picture.
struct OverviewSource {
  std::size_t level = 0;
  std::int32_t k = 1;
};

/// Chooses a level and k as the documentation of `draw_slide` says, among the levels that can be read. `levels`
/// begin with the finest.
OverviewSource choose_overview(std::span<const Level> levels, std::int32_t side);

/// Converts positions on the slide to pixels of the picture. A value.
class PictureMapping {
 public:
  /// `slide.all_levels` must be set.
  PictureMapping(const SlideFile& slide, const OverviewSource& source);

  std::int32_t width() const noexcept { return across_.pixels; }
  std::int32_t height() const noexcept { return down_.pixels; }
  /// Returns the pixels of the picture that show a box of the slide's image: at least one pixel if the box has a pixel
  /// in the slide.
  Area area_of(const SlideBox& box) const noexcept;
  /// Converts a length in pixels of the slide's image to pixels of the picture.
  double length(std::int32_t pixels) const noexcept { return pixels * across_.scale; }
  /// Returns the distance of neighbouring pixels of the picture, in pixels of level 0.
  double step() const noexcept { return step_; }
  /// Returns the mask's byte at the centre of each pixel of the picture.
  std::vector<std::uint8_t> seen_through(std::span<const std::uint8_t> mask, const MaskGrid& grid) const;

 private:
  struct Axis {
    std::int32_t pixels = 0;
    std::int64_t image = 0;  // pixels of the slide's image
    double scale = 0;        // pixels of the picture per pixel of the slide's image
    double whole = 0;        // the length of the level in pixels of the picture; the last pixel may be partial
  };
  static Axis axis(std::int64_t level, std::int64_t image, std::int32_t k) noexcept;
  Axis across_, down_;
  double step_;
};

}  // namespace penstock::slide
