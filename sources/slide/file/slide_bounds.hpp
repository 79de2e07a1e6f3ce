// SPDX-License-Identifier: Apache-2.0
// The part of a slide that has an image.
#pragma once

#include <cstdint>

namespace penstock::slide {

/// The rectangle of level 0 that OpenSlide's properties `openslide.bounds-*` describe. Outside of it, the slide has no
/// pixels. Some programs show only this rectangle, and count coordinates from its top left pixel.
struct SlideBounds {
  std::int64_t x = 0, y = 0, width = 0, height = 0;  ///< the sizes are 0 if the bounds are not given

  bool begins_with_slide() const noexcept { return x == 0 && y == 0; }
  bool has_size() const noexcept { return width > 0 && height > 0; }
  friend bool operator==(const SlideBounds&, const SlideBounds&) = default;
};

}  // namespace penstock::slide
