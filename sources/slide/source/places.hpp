// SPDX-License-Identifier: Apache-2.0
// Chooses the places of a slide that are records.
#pragma once

#include <optional>

#include <penstock/sources/slide.hpp>

#include "file/grid/grid.hpp"
#include "file/slide_file.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// Returns the grid of all places of an opened slide, before any place is left out.
Grid whole_grid(const SlideFile& slide, const Slides& options);

/// Gives a slide its grid. If `options.coords` has lists, gives it the places of `list` instead, or no places if `list`
/// is null. @throws like listed_places.
void lay_grid(SlideFile& slide, const Slides& options, const SlideCoords* list);

/// Sets the names of the classes of a slide's regions in `slide.choice`, for a slide that is not opened or can't be
/// read. Without these names, processes that open different slides would number classes differently. Does nothing if
/// the names are set, or if the file of regions is faulty.
void take_classes(SlideFile& slide, const SlideRegions& regions);

/// Leaves out the places that show too little tissue in `mask`, or that the rules of regions don't allow. If places are
/// chosen by tissue and the slide has places, `mask` must be set. @throws Error(limit_exceeded) if places are chosen
/// by tissue or regions, and the slide's grid has more than 2^31 places; Error(limit_exceeded | corrupt | unsupported |
/// not_found | io) for faults of its regions.
void choose_places(SlideFile& slide, const Slides& options, const std::optional<TissueMask>& mask);

}  // namespace penstock::slide
