#include "tissue/tissue_places.hpp"

#include <cmath>

#include "file/errors.hpp"
#include "tissue/block_means.hpp"

namespace penstock::slide {

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

MaskGrid mask_grid(const SlideFile& slide, const TissueMask& mask) noexcept {
  const MaskSource& source = *slide.mask_source;
  return {source.level.width, source.level.height, source.k, mask.width, mask.height};
}

}  // namespace penstock::slide
