// SPDX-License-Identifier: Apache-2.0
#include "regions/region_origin.hpp"

#include <string>

#include "file/errors.hpp"

namespace penstock::slide {

namespace {

std::string begin_of(const SlideBounds& bounds) {
  return "x " + std::to_string(bounds.x) + ", y " + std::to_string(bounds.y);
}

bool are_whole(const SlideBounds& bounds, const Scale& scale) {
  return bounds.begins_with_slide() &&
         (!bounds.has_size() || (bounds.width == scale.width0 && bounds.height == scale.height0));
}

// Throws, because a wrong guess would silently choose other places of the slide.
[[noreturn]] void refuse_to_guess(const SlideFile& slide, bool is_picture) {
  const SlideBounds& bounds = slide.found.bounds;
  const std::string size = std::to_string(bounds.width) + "x" + std::to_string(bounds.height) + " pixels";
  throw error_in(
      slide.region_file, Errc::unsupported,
      (is_picture ? "OpenSlide's bounds of the slide are " + size + " at " + begin_of(bounds) +
                        ", and nothing says whether the picture is of these or of the whole slide"
                  : "OpenSlide's bounds of the slide begin at " + begin_of(bounds) +
                        ", and nothing in the file says whether its regions count from there or from the slide's "
                        "top left pixel") +
          "; say which by `regions.origin`: `bounds` or `slide`");
}

bool counts_from_bounds(const SlideFile& slide, const SlideRegions& rules, const Regions& regions) {
  if (rules.origin != SlideRegions::Origin::automatic) return rules.origin == SlideRegions::Origin::bounds;
  if (!regions.of_qupath) refuse_to_guess(slide, regions.picture.width != 0);
  return true;
}

void move(Regions& regions, const SlideBounds& bounds) {
  for (RegionClass& one : regions.classes)
    for (RegionPolygon& polygon : one.polygons)
      for (std::vector<RegionPoint>& ring : polygon.rings)
        for (RegionPoint& point : ring) {
          point.x += static_cast<double>(bounds.x);
          point.y += static_cast<double>(bounds.y);
        }
}

}  // namespace

PlacedRegions read_placed_regions(const SlideFile& slide, const SlideRegions& rules) {
  if (slide.region_file.empty()) return {};
  PlacedRegions placed{.regions = read_region_file(slide.region_file)};
  Regions& regions = placed.regions;
  const SlideBounds& bounds = slide.found.bounds;
  const bool is_picture = regions.picture.width != 0;
  const bool makes_no_difference = is_picture ? are_whole(bounds, slide.image.scale) : bounds.begins_with_slide();
  if (regions.classes.empty() || makes_no_difference || !counts_from_bounds(slide, rules, regions)) return placed;
  if (is_picture && !bounds.has_size())
    throw error_in(slide.region_file, Errc::unsupported,
                   "OpenSlide doesn't say how large its bounds of the slide are, which the picture is to be of");
  placed.moved_x = bounds.x;
  placed.moved_y = bounds.y;
  regions.picture.covers = bounds;
  move(regions, bounds);
  return placed;
}

}  // namespace penstock::slide
