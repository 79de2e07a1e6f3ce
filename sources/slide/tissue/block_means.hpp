// SPDX-License-Identifier: Apache-2.0
// Scales a stored level down: each k x k of its pixels become one pixel.
#pragma once

#include <cstdint>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// Returns the means of each `k` x `k` pixels of the slide's `level`, rounded to the nearest. At the right and lower
/// edge, only existing pixels count. Decodes no tile twice. If many tiles share their bytes, decodes only a few of
/// them. Needs memory for the part of the result that a row of tiles covers. Pixels of unreadable tiles are unknown,
/// and white. @throws Error(io | out_of_memory), and errors that concern more than a tile.
SmallPicture read_block_means(LevelReaders& readers, const SlideFile& slide, std::int32_t k);

}  // namespace penstock::slide
