// Places of a slide's grid that regions want, and the classes that they show.
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

/// Whether a name is one of a list, or "*" is.
bool is_listed(const std::vector<std::string>& list, const std::string& name);

/// Whether records may be told to show that class.
bool may_show(const SlideRegions& rules, const std::string& name);

/// The plane that SlideRegions describes for a slide. @throws Error(limit_exceeded) where it would be too large.
MaskGrid region_grid(const SlideFile& slide, double mpp);

/// Places of the slide's grid on such a plane. `box_of`: a place's box of the image.
PlacesOnPlane places_on(const SlideFile& slide, const MaskGrid& grid,
                        const std::function<SlideBox(const GridPlace&)>& box_of);

/// What the bits of a plane say.
struct RegionBits {
  static constexpr std::uint8_t current = 1, included = 2, excluded = 4;
};

/// Paints all that the rules name into bits of a plane. In `excluded` what is in a class of `exclude`, in `included`
/// what is in one that may be told. `each`, where there is one, is called for every class that may be told, with its
/// number among these, while the bit `current` is that class alone. @throws Error(corrupt) for a picture of another
/// shape than the slide's, and as RegionPlane::paint; without a file.
void paint_regions(RegionPlane& plane, const Regions& regions, const SlideRegions& rules,
                   const std::function<void(std::size_t)>& each);

/// Paints one class alone. @throws as paint_regions.
void paint_class(RegionPlane& plane, const Regions& regions, const RegionClass& painted, std::uint8_t bit);

/// What regions say of the places that are wanted.
struct ShownClasses {
  std::vector<std::string> names;   ///< names of classes that may be told
  std::vector<std::uint8_t> shown;  ///< what each place shows, in the grid's order: 0, or the number of a class plus 1
};

/// Strikes out the places that the rules don't want. The classes are told where `rules.field` asks for them.
/// @throws as paint_regions.
ShownClasses strike_out_by_regions(const SlideFile& slide, const Regions& regions, const SlideRegions& rules,
                                   const std::function<SlideBox(const GridPlace&)>& box_of, std::vector<bool>& wanted);

}  // namespace penstock::slide
