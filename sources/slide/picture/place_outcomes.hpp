// SPDX-License-Identifier: Apache-2.0
// The outcomes of the places that the pixels of a picture show.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"
#include "picture/picture_mapping.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// What became of a place. If several places cover a pixel, the pixel has the outcome that comes last here.
enum class PlaceOutcome : std::uint8_t {
  no_place,         ///< no place of the grid covers the pixel
  little_tissue,    ///< left out: it shows less tissue than required
  outside_regions,  ///< left out for another reason: regions allow no place there, or the view lacks the place
  record,
};

/// The outcomes of all places of the slide's grid, including places that were left out. Empty if all places are
/// records, and for a list of places.
struct PlaceOutcomes {
  std::vector<PlaceOutcome> outcomes;
  std::uint64_t count(PlaceOutcome outcome) const noexcept;
};
/// Returns the outcomes of a slide's places. `mask`: the tissue mask, if there is one.
PlaceOutcomes place_outcomes(const SlideFile& slide, const Slides& options, const std::optional<TissueMask>& mask);

/// Returns the outcome of each pixel of the picture, row by row.
std::vector<PlaceOutcome> outcomes_of(const SlideFile& slide, const Slides& options, const PictureMapping& overview,
                                      const PlaceOutcomes& places);

}  // namespace penstock::slide
