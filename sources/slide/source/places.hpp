// SPDX-License-Identifier: Apache-2.0
// Chooses the places of a slide that are records.
#pragma once

#include <optional>

#include <penstock/sources/slide.hpp>

#include "file/grid/grid.hpp"
#include "file/slide_file.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// Returns the grid of all places of an open slide, before any is left out.
Grid whole_grid(const SlideFile& slide, const Slides& options);

/// Gives a slide its grid. If `options.coords` has lists, gives it the places of `list` instead, or no places if `list`
/// is null.
void lay_grid(SlideFile& slide, const Slides& options, const SlideCoords* list);

/// Reads the names of the classes of a slide's regions, even if the slide has no records. So each class has the same
/// number in all processes, whichever slides each process opens.
void take_classes(SlideFile& slide, const SlideRegions& regions);

/// Leaves out the places that show too little tissue in `mask`, or that the rules of regions don't allow. The slide
/// must not have more than 2^31 places. @throws Error(limit_exceeded | corrupt | unsupported | not_found | io).
void choose_places(SlideFile& slide, const Slides& options, const std::optional<TissueMask>& mask);

}  // namespace penstock::slide
