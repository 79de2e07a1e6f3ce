// Where the coordinates of regions count from.
#pragma once

#include <cstdint>

#include <penstock/sources/slide_regions.hpp>

#include "file/slide_file.hpp"
#include "regions/region_file.hpp"

namespace penstock::slide {

/// Regions whose points are pixels of level 0, counted from its top left pixel.
struct PlacedRegions {
  Regions regions;
  std::int64_t moved_x = 0, moved_y = 0;  ///< pixels that they were moved by
};

/// The regions of a slide; none where it has no file of them. @throws as read_region_file; Error(unsupported), with the
/// file, where `rules.origin` and the file leave open where they count from.
PlacedRegions read_placed_regions(const SlideFile& slide, const SlideRegions& rules);

}  // namespace penstock::slide
