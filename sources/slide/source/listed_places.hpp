// Lists of places in the place of grids.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/grid/grid.hpp"
#include "file/slide_file.hpp"

namespace penstock::slide {

struct SlideLists {
  std::vector<const SlideCoords*> of_slides;  ///< each slide's list, in `coords`; empty: there are no lists
  std::size_t of_none = 0;                    ///< lists without a slide
};

/// Finds each slide's list. @throws Error(invalid_argument) for two lists of one slide, a name that several slides
/// have, and where no list is of a slide.
SlideLists find_lists(const Slides& options, const std::vector<std::string>& names);

/// The places of a list that lie on its slide. @throws Error(unsupported) where the list belongs to another slide, or
/// its places have another size.
Grid listed_places(SlideFile& slide, const SlideCoords& list, const Slides& options);

}  // namespace penstock::slide
