// SPDX-License-Identifier: Apache-2.0
// Finds the origin of the coordinates of regions.
#pragma once

#include <cstdint>

#include <penstock/sources/slide_regions.hpp>

#include "file/slide_file.hpp"
#include "regions/region_file.hpp"

namespace penstock::slide {

/// Regions whose points are pixels of level 0, counted from its top left pixel.
struct PlacedRegions {
  Regions regions;
  std::int64_t moved_x = 0, moved_y = 0;  ///< pixels by which the regions were moved
};

/// Returns the regions of a slide, or no regions if the slide has no file of them. If the slide's bounds are not the
/// whole slide, coordinates of regions may count from the top left pixel of the bounds, or of the slide.
/// @throws like read_region_file.
/// @throws Error(unsupported), with the file, if this makes a difference and neither `rules.origin` nor the file says
/// which of these two pixels is the origin. Also throws it if the file holds a picture that shows only the bounds, and
/// OpenSlide does not say how large the bounds are.
PlacedRegions read_placed_regions(const SlideFile& slide, const SlideRegions& rules);

}  // namespace penstock::slide
