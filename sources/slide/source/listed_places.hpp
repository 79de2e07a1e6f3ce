// SPDX-License-Identifier: Apache-2.0
// Lists of places instead of grids.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/grid/grid.hpp"
#include "file/slide_file.hpp"

namespace penstock::slide {

struct SlideLists {
  /// For each slide, its list in `coords`, or null. Empty if `coords` is empty.
  std::vector<const SlideCoords*> of_slides;
  std::size_t of_none = 0;  ///< number of lists that belong to no slide
};

/// Finds each slide's list. @throws Error(invalid_argument) if a slide has two lists, several slides have a list's
/// name, or none of the lists belongs to a slide.
SlideLists find_lists(const Slides& options, const std::vector<std::string>& names);

/// Returns the places of a list that are on its slide. Leaves out repeated places, and places whose top left pixel is
/// not on the slide. With SlideEdges::drop, also leaves out places that reach beyond the slide. Counts all these places
/// in `slide.choice`. @throws Error(unsupported) if the list belongs to a different slide, or its places have a
/// different size than records. With `options.coords_of_any_size`, the size may be different.
Grid listed_places(SlideFile& slide, const SlideCoords& list, const Slides& options);

}  // namespace penstock::slide
