// Which places of a slide are records.
#pragma once

#include <optional>

#include <penstock/sources/slide.hpp>

#include "file/grid/grid.hpp"
#include "file/slide_file.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// The grid of all places of a slide that is open, before any is left out.
Grid whole_grid(const SlideFile& slide, const Slides& options);

/// Gives a slide its grid, or the places of `list`, which is null where there are lists and none of this slide.
void lay_grid(SlideFile& slide, const Slides& options, const SlideCoords* list);

/// Reads the classes of a slide, also of one without records: so each class has the same number in all processes,
/// whichever slides each of them opens.
void take_classes(SlideFile& slide, const SlideRegions& regions);

/// Leaves out the places that show too little tissue by `mask`, or that regions rule out.
void choose_places(SlideFile& slide, const Slides& options, const std::optional<TissueMask>& mask);

}  // namespace penstock::slide
