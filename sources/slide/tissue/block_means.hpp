// A stored level in small: each k x k of its pixels one.
#pragma once

#include <cstdint>

#include "file/slide_file.hpp"
#include "pixels/level_pixels.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// The means of each `k` x `k` pixels of the slide's `level`, rounded to the nearest; at the right and lower edge, of
/// those that are there. Tiles are decoded once, those that lie at the same bytes mostly too, and what it takes is that
/// of a row of tiles of the result. Pixels of tiles that can't be read are unknown, and white. @throws Error(io |
/// out_of_memory), and what is wrong with more than a tile.
SmallPicture read_block_means(LevelReaders& readers, const SlideFile& slide, std::int32_t k);

}  // namespace penstock::slide
