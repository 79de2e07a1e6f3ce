// SPDX-License-Identifier: Apache-2.0
#include "tissue/tissue_places.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "file/errors.hpp"
#include "tissue/block_means.hpp"

namespace penstock::slide {

namespace {

// Replaces unknown pixels by known pixels of a coarser picture of the same slide.
void fill_unknown(SmallPicture& picture, const MaskSource& source, const SmallPicture& coarser) {
  // Returns the coarser picture's column or row that contains the centre of column or row `i`.
  const auto at = [&](std::int32_t i, std::int64_t level_side, std::int32_t side) {
    return std::min<std::int64_t>((2 * std::int64_t{i} + 1) * source.k * side / (2 * level_side), side - 1);
  };
  std::size_t i = 0;
  for (std::int32_t y = 0; y < picture.height; ++y)
    for (std::int32_t x = 0; x < picture.width; ++x, ++i) {
      if (picture.unknown[i] == 0) continue;
      const auto from = static_cast<std::size_t>(at(y, source.level.height, coarser.height) * coarser.width +
                                                 at(x, source.level.width, coarser.width));
      if (!coarser.unknown.empty() && coarser.unknown[from] != 0) continue;
      std::copy_n(coarser.rgb.begin() + static_cast<std::ptrdiff_t>(3 * from), 3,
                  picture.rgb.begin() + static_cast<std::ptrdiff_t>(3 * i));
      picture.unknown[i] = 0;
    }
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
  SmallPicture picture = read_block_means(readers, low, source.k);
  const auto unknown = [&] { return std::ranges::count(picture.unknown, 1); };
  for (const MaskSource::Coarser& coarser : source.coarser) {
    if (unknown() == 0) break;
    fill_unknown(picture, source, read_block_means(readers, at_level(slide, coarser.level_number, coarser.level), 1));
  }
  const auto left = static_cast<std::size_t>(unknown());
  if (left != 0 && left == picture.unknown.size())
    throw error_in(slide.path, Errc::corrupt,
                   "no pixel of level " + std::to_string(source.level_number) +
                       " can be read, nor of coarser ones, to make its mask of tissue: " + picture.why_unknown);
  TissueMask mask = find_tissue(picture, rules);
  if (left != 0) mask.why_unknown = picture.why_unknown;
  return mask;
}

MaskGrid mask_grid(const SlideFile& slide, const TissueMask& mask) noexcept {
  const MaskSource& source = *slide.mask_source;
  return {source.level.width, source.level.height, source.k, mask.width, mask.height};
}

}  // namespace penstock::slide
