// What a slide's mask is made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "file/level.hpp"
#include "file/scale/resolution.hpp"

namespace penstock::slide {

struct MaskSource {
  std::size_t level_number = 0;
  Level level;
  std::int32_t k = 1;  ///< so many of the level's pixels, across and down, are one of the mask
  double mpp = 0;      ///< micrometres a pixel of the mask
  /// Coarser levels, the finest first, which say what the level can't.
  struct Coarser {
    std::size_t level_number = 0;
    Level level;
  };
  std::vector<Coarser> coarser = {};
};

/// Micrometres a pixel of level 0, as masks take it: half a one where it isn't known.
double mpp_for_masks(const Resolution& resolution) noexcept;

/// The one that SlideTissue describes, for a mask of `mpp` micrometres a pixel. `levels` begin with the finest.
MaskSource choose_mask_source(std::span<const Level> levels, const Resolution& resolution, double mpp);

}  // namespace penstock::slide
