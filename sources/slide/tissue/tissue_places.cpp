#include "tissue/tissue_places.hpp"

#include <algorithm>
#include <cmath>

#include "file/errors.hpp"
#include "tissue/block_means.hpp"

namespace penstock::slide {

namespace {

// Pixels of a mask along a side: those whose centres lie from `begin` on, and before `begin` + `size`, of an image of
// `image` pixels that shows the same as `level` pixels.
struct Range {
  std::int32_t from, to;
};
Range centres_in(std::int64_t begin, std::int64_t size, std::int64_t image, std::int64_t level, std::int64_t k,
                 std::int32_t count) {
  // The centre of pixel i stands at (2i + 1) k / 2 of the level. The first one at or after a place of the image:
  const auto first = [&](std::int64_t at) {
    const std::int64_t above = 2 * level * at - image * k, below = 2 * image * k;
    return std::clamp<std::int64_t>(above <= 0 ? 0 : (above + below - 1) / below, 0, count);
  };
  const Range range{static_cast<std::int32_t>(first(begin)), static_cast<std::int32_t>(first(begin + size))};
  if (range.from < range.to) return range;
  const std::int64_t middle = std::min(begin + size / 2, image - 1);
  const auto one = static_cast<std::int32_t>(std::clamp<std::int64_t>(level * middle / (image * k), 0, count - 1));
  return {one, one + 1};
}

}  // namespace

TissueMask make_mask(LevelReaders& readers, const SlideFile& slide, const SlideTissue& tissue) {
  const MaskSource& source = *slide.mask_source;
  constexpr std::int64_t most_pixels = std::int64_t{1} << 27;
  if (const std::int64_t pixels = source.level.width / source.k * (source.level.height / source.k);
      pixels > most_pixels)
    throw error_in(slide.path, Errc::limit_exceeded,
                   "its mask of tissue would have " + std::to_string(pixels) +
                       " pixels, more than 134 million; take a larger `tissue.mpp`");
  const SlideFile low = at_level(slide, source.level_number, source.level);
  const MaskRules rules{tissue.by, tissue.threshold,
                        static_cast<std::int32_t>(std::lround(tissue.closing / source.mpp)),
                        tissue.least_area / (source.mpp * source.mpp)};
  return find_tissue(read_block_means(readers, low, source.k), rules);
}

MaskBox mask_box(const SlideFile& slide, const TissueMask& mask, const SlideBox& box) noexcept {
  const Scale& scale = slide.scale;
  const MaskSource& source = *slide.mask_source;
  const Range x = centres_in(box.x, box.width, scale.width, source.level.width, source.k, mask.width);
  const Range y = centres_in(box.y, box.height, scale.height, source.level.height, source.k, mask.height);
  return {x.from, y.from, x.to, y.to};
}

}  // namespace penstock::slide
