// SPDX-License-Identifier: Apache-2.0
#include "stain/slide_stain.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <penstock/error.hpp>

#include "file/errors.hpp"
#include "pixels/heap_scratch.hpp"
#include "pixels/promised_tile.hpp"
#include "pixels/reused_scratch.hpp"
#include "stain/stain_patches.hpp"

namespace penstock::slide {

namespace {

// Returns, for each of `count` columns or rows of the image from `begin` on, the mask's column or row that contains its
// centre.
std::vector<std::size_t> mask_pixels(std::int64_t begin, std::int64_t count, std::int64_t image, std::int64_t level,
                                     std::int64_t k, std::int32_t pixels) {
  std::vector<std::size_t> at(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < at.size(); ++i) {
    // Twice the coordinate of the centre of a pixel of the image: pixel x has its centre at x + 1/2.
    const std::int64_t twice = 2 * (begin + static_cast<std::int64_t>(i)) + 1;
    at[i] = static_cast<std::size_t>(std::min<std::int64_t>(twice * level / (2 * image * k), pixels - 1));
  }
  return at;
}

}  // namespace

StainFit fit_slide(LevelReaders& readers, const SlideFile& slide, const TissueMask& mask, const MaskGrid& grid,
                   const SlideStain& stain) {
  const Scale& scale = slide.image.scale;
  // Areas in which the slide has no pixels become white, like glass.
  const ImageRules rules{{255, 255, 255}};
  std::vector<std::uint8_t> pixels;
  HeapScratch memory;
  ReusedScratch scratch(memory);
  for (const SlideBox& patch : stain_patches(scale, grid, mask, static_cast<std::size_t>(stain.patches))) {
    scratch.reset();
    PromisedTile tile(readers, slide, rules, patch, {});
    const ImageShape shape = tile.shape();
    Pixels there;
    try {
      there = tile.decode({0, 0, shape.height, shape.width}, false, nullptr, scratch);
    } catch (const Error& failed) {
      if (!failed.sample_scoped() || failed.code() == Errc::io) throw;
      continue;
    }
    const std::vector<std::size_t> columns =
        mask_pixels(patch.x, patch.width, scale.width, grid.level_width, grid.k, mask.width);
    const std::vector<std::size_t> rows =
        mask_pixels(patch.y, patch.height, scale.height, grid.level_height, grid.k, mask.height);
    for (std::size_t y = 0; y < rows.size(); ++y) {
      const std::uint8_t* const tissue = mask.tissue.data() + rows[y] * static_cast<std::size_t>(mask.width);
      const std::uint8_t* rgb = there.data + static_cast<std::ptrdiff_t>(y) * there.stride;
      for (const std::size_t column : columns) {
        if (tissue[column] != 0) pixels.insert(pixels.end(), rgb, rgb + 3);
        rgb += 3;
      }
    }
  }
  const auto count = static_cast<std::int64_t>(pixels.size() / 3);
  try {
    return fit_stain(View<const std::uint8_t, 3>(pixels.data(), {1, count, 3}), *stain.method);
  } catch (const Error& failed) {
    throw error_in(slide.path, failed.code(), failed.cause() + "; leave the slide out, or drop it by `on_error`");
  }
}

}  // namespace penstock::slide
