// SPDX-License-Identifier: Apache-2.0
// Scales a stored level down: each k x k of its pixels become one pixel.
#pragma once

#include <cstdint>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// Returns the mean of each `k` x `k` pixels of the slide's `image.level`, rounded to the nearest whole number. At the
/// right and lower edge, only existing pixels count. Decodes no tile twice, if this library decodes the level. If many
/// tiles share their bytes, decodes only a few of them. Besides the result, needs memory for the part of it that a row
/// of tiles covers. Pixels that an unreadable tile touches are unknown, and white. @throws Error(io | out_of_memory),
/// and errors that concern more than a tile.
SmallPicture read_block_means(LevelReaders& readers, const SlideFile& slide, std::int32_t k);

}  // namespace penstock::slide
