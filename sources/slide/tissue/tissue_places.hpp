// Places of a slide's grid that show tissue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "pixels/slide_box.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// Makes the slide's mask of its `mask_source`. @throws as read_block_means.
TissueMask make_mask(LevelReaders& readers, const SlideFile& slide, const SlideTissue& tissue);

/// Pixels of a mask: [left, right) x [top, bottom).
struct MaskBox {
  std::int32_t left = 0, top = 0, right = 0, bottom = 0;
  std::uint64_t pixels() const noexcept {
    return static_cast<std::uint64_t>(right - left) * static_cast<std::uint64_t>(bottom - top);
  }
};

/// The pixels whose centres lie in a box of the slide's image; where there are none, the one that its centre lies in.
MaskBox mask_box(const SlideFile& slide, const TissueMask& mask, const SlideBox& box) noexcept;

/// Leaves out the places of the slide's grid that show less tissue than `least`. `box_of`: a place's box.
template <class BoxOf>
void keep_tissue(SlideFile& slide, const TissueMask& mask, double least, const BoxOf& box_of) {
  const TissueCounts counts(mask);
  std::vector<bool> wanted(static_cast<std::size_t>(slide.grid.size()));
  for (std::uint64_t i = 0; i < slide.grid.size(); ++i) {
    const MaskBox box = mask_box(slide, mask, box_of(slide.grid.place(i)));
    const std::uint64_t tissue = counts.in(box.left, box.top, box.right, box.bottom);
    wanted[static_cast<std::size_t>(i)] =
        tissue != 0 && static_cast<double>(tissue) >= least * static_cast<double>(box.pixels());
  }
  slide.grid.keep(wanted);
}

}  // namespace penstock::slide
