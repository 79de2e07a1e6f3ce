// SPDX-License-Identifier: Apache-2.0
#include "pixels/mask_box.hpp"

#include <algorithm>

namespace penstock::slide {

namespace {

// Pixels [from, to) of a mask along a side. `centres_in` returns the pixels whose centres are in [begin, begin + size)
// of an image. If there are none, it returns the pixel at the middle of that part. Along the side, the image has
// `image` pixels, the level that the mask is made of has `level`, and the mask has `count`.
struct Range {
  std::int32_t from, to;
};
Range centres_in(std::int64_t begin, std::int64_t size, std::int64_t image, std::int64_t level, std::int64_t k,
                 std::int32_t count) {
  // The centre of pixel i has the coordinate (2i + 1) k / 2, in pixels of the level. Returns the first pixel whose
  // centre is at or after the position `at` of the image.
  const auto first = [&](std::int64_t at) {
    const std::int64_t above = 2 * level * at - image * k, below = 2 * image * k;
    return std::clamp<std::int64_t>(above <= 0 ? 0 : (above + below - 1) / below, 0, count);
  };
  const Range range{static_cast<std::int32_t>(first(begin)),
                    static_cast<std::int32_t>(first(std::min(begin + size, image)))};
  if (range.from < range.to) return range;
  const std::int64_t middle = std::min(begin + size / 2, image - 1);
  const auto one = static_cast<std::int32_t>(std::clamp<std::int64_t>(level * middle / (image * k), 0, count - 1));
  return {one, one + 1};
}

}  // namespace

MaskBox mask_box(const Scale& scale, const MaskGrid& mask, const SlideBox& box) noexcept {
  const Range x = centres_in(box.x, box.width, scale.width, mask.level_width, mask.k, mask.width);
  const Range y = centres_in(box.y, box.height, scale.height, mask.level_height, mask.k, mask.height);
  return {x.from, y.from, x.to, y.to};
}

}  // namespace penstock::slide
