// What became of the places that the pixels of a picture show.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "file/slide_file.hpp"
#include "picture/overview.hpp"
#include "tissue/tissue_mask.hpp"

namespace penstock::slide {

/// What became of a place; of a pixel, that of the places which cover it, of which the last of these counts.
enum class PlaceOutcome : std::uint8_t {
  no_place,         ///< the grid covers it nowhere
  little_tissue,    ///< left out: it shows less tissue than is wanted
  outside_regions,  ///< left out: it lies where regions want none
  record,
};

/// What became of all places of the slide's grid, those that are left out too; empty where all are records.
struct PlaceOutcomes {
  std::vector<PlaceOutcome> outcomes;
  std::uint64_t count(PlaceOutcome outcome) const noexcept;
};
/// `mask`: that of tissue, where there is one.
PlaceOutcomes place_outcomes(const SlideFile& slide, const Slides& options, const std::optional<TissueMask>& mask);

/// What became of each pixel of the picture, row by row.
std::vector<PlaceOutcome> outcomes_of(const SlideFile& slide, const Slides& options, const Overview& overview,
                           const PlaceOutcomes& places);

}  // namespace penstock::slide
