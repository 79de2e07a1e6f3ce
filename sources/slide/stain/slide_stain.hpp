// SPDX-License-Identifier: Apache-2.0
// Measures how a slide is stained.
#pragma once

#include <penstock/sources/slide_stain.hpp>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "pixels/mask_box.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// Fits the slide's stains by `stain.method`, which must be set. `grid`: the mask's position on the slide. @throws
/// Error(unsupported) if the slide's stains can't be measured; Error(io | out_of_memory).
StainFit fit_slide(LevelReaders& readers, const SlideFile& slide, const TissueMask& mask, const MaskGrid& grid,
                   const SlideStain& stain);

}  // namespace penstock::slide
