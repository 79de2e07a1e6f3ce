// SPDX-License-Identifier: Apache-2.0
// The level that a slide's mask is made from.
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
  std::int32_t k = 1;  ///< k x k pixels of the level become one pixel of the mask
  double mpp = 0;      ///< micrometres per pixel of the mask
  /// Coarser levels, the finest first. They are used where `level` can't be read.
  struct Coarser {
    std::size_t level_number = 0;
    Level level;
  };
  std::vector<Coarser> coarser = {};
};

/// Returns the size of a pixel of level 0, in micrometres, for making masks. If the size is unknown, returns 0.5.
double mpp_for_masks(const Resolution& resolution) noexcept;

/// Chooses the level for a mask of `mpp` micrometres per pixel, as the comment of SlideTissue describes. `levels` begin
/// with the finest.
MaskSource choose_mask_source(std::span<const Level> levels, const Resolution& resolution, double mpp);

}  // namespace penstock::slide
