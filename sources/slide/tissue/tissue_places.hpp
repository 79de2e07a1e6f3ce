// SPDX-License-Identifier: Apache-2.0
// Places of a slide's grid that show tissue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "pixels/mask_box.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// Makes the slide's mask from its `mask_source`. @throws like read_block_means; Error(limit_exceeded) if the mask
/// would be too large; Error(corrupt) if none of its pixels can be read.
TissueMask make_mask(LevelReaders& readers, const SlideFile& slide, const SlideTissue& tissue);

/// Returns where `mask` is on the slide.
MaskGrid mask_grid(const SlideFile& slide, const TissueMask& mask) noexcept;

/// Returns whether a box of the slide's image shows at least the share `least` of tissue, and at least one pixel of
/// tissue.
inline bool shows_tissue(const SlideFile& slide, const TissueMask& mask, const TissueCounts& counts, double least,
                         const SlideBox& box) noexcept {
  const MaskBox pixels = mask_box(slide.image.scale, mask_grid(slide, mask), box);
  const std::uint64_t tissue = counts.in(pixels.left, pixels.top, pixels.right, pixels.bottom);
  return tissue != 0 && static_cast<double>(tissue) >= least * static_cast<double>(pixels.pixels());
}

/// Strikes out of `wanted` the places of the slide's grid for which `shows_tissue` returns false. `box_of` returns the
/// box of the slide's image that a place covers.
template <class BoxOf>
void strike_out_glass(const SlideFile& slide, const TissueMask& mask, double least, const BoxOf& box_of,
                      std::vector<bool>& wanted) {
  const TissueCounts counts(mask);
  for (std::uint64_t i = 0; i < slide.records.grid.size(); ++i)
    if (!shows_tissue(slide, mask, counts, least, box_of(slide.records.grid.place(i))))
      wanted[static_cast<std::size_t>(i)] = false;
}

}  // namespace penstock::slide
