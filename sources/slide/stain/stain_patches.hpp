// SPDX-License-Identifier: Apache-2.0
// The squares of a slide's image in which its stains are measured.
#pragma once

#include <cstddef>
#include <vector>

#include "file/scale/scale.hpp"
#include "pixels/mask_box.hpp"
#include "pixels/slide_box.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// Returns at most `most` squares with tissue, as SlideStain describes them. At the image's right and lower edge,
/// squares are cut off.
std::vector<SlideBox> stain_patches(const Scale& scale, const MaskGrid& grid, const TissueMask& mask, std::size_t most);

}  // namespace penstock::slide
