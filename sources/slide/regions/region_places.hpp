// SPDX-License-Identifier: Apache-2.0
// The places of a slide's grid that regions allow, and the classes that they show.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <penstock/sources/slide_regions.hpp>

#include "file/slide_file.hpp"
#include "pixels/slide_box.hpp"
#include "regions/place_counts.hpp"
#include "regions/region_file.hpp"

namespace penstock::slide {

/// Returns whether a name, or "*", is in a list.
bool is_listed(const std::vector<std::string>& list, const std::string& name);

/// Returns whether records may show the class `name`.
bool may_show(const SlideRegions& rules, const std::string& name);

/// Returns the grid of pixels on which SlideRegions compares a slide's regions with places. @throws
/// Error(limit_exceeded) if the grid would be too large.
MaskGrid region_grid(const SlideFile& slide, double mpp);

/// Returns where the places of the slide's grid are on the plane `grid`. `box_of` returns the box of the slide's image
/// that a place covers.
PlacesOnRegionPlane places_on(const SlideFile& slide, const MaskGrid& grid,
                              const std::function<SlideBox(const GridPlace&)>& box_of);

/// The meaning of the bits of a plane.
struct RegionBits {
  static constexpr std::uint8_t current = 1, included = 2, excluded = 4;
};

/// Paints the regions that the rules name. Sets the bit `excluded` in the regions of classes in `rules.exclude`. Sets
/// the bit `included` in the regions of classes that records may show. If `each` is set, it is called for every class
/// that records may show, with the class's number among these classes. During the call, the bit `current` is set only
/// where this class is. @throws Error(corrupt) if the picture and the part of the slide that it shows have different
/// shapes; what RegionPlane::paint throws. The errors name no file.
void paint_regions(RegionPlane& plane, const Regions& regions, const SlideRegions& rules,
                   const std::function<void(std::size_t)>& each);

/// Paints one class only. @throws like RegionPlane::paint.
void paint_class(RegionPlane& plane, const Regions& regions, const RegionClass& painted, std::uint8_t bit);

/// The classes that wanted places show.
struct ShownClasses {
  std::vector<std::string> names;  ///< names of the slide's classes that records may show
  /// For each place in the grid's order: 0 for no class, or the position of the place's class in `names` plus 1. Empty
  /// without `rules.field`.
  std::vector<std::uint8_t> shown;
};

/// Strikes out of `wanted` the places that the rules don't allow. Returns the names of the slide's classes that records
/// may show. If `rules.field` is set, also returns the class that each place shows. @throws like paint_regions.
ShownClasses strike_out_by_regions(const SlideFile& slide, const Regions& regions, const SlideRegions& rules,
                                   const std::function<SlideBox(const GridPlace&)>& box_of, std::vector<bool>& wanted);

}  // namespace penstock::slide
