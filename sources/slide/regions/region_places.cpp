// SPDX-License-Identifier: Apache-2.0
#include "regions/region_places.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "file/errors.hpp"
#include "file/scale/mask_source.hpp"
#include "regions/region_plane.hpp"

namespace penstock::slide {

namespace {

using Bits = RegionBits;

void check_shape(const RegionPicture& picture, const MaskGrid& grid) {
  // The picture must have the shape of the part that it shows. Rounding may make a side one pixel longer or shorter.
  const auto wide = static_cast<double>(picture.width), high = static_cast<double>(picture.height);
  const bool of_a_part = picture.covers.has_size();
  const std::int64_t covered_width = of_a_part ? picture.covers.width : grid.level_width,
                     covered_height = of_a_part ? picture.covers.height : grid.level_height;
  const auto width = static_cast<double>(covered_width), height = static_cast<double>(covered_height);
  if (std::abs(wide * height / width - high) <= 1 || std::abs(high * width / height - wide) <= 1) return;
  throw Error(Errc::corrupt, "the picture is of " + std::to_string(picture.width) + "x" +
                                 std::to_string(picture.height) + " pixels, which is no " +
                                 std::to_string(covered_width) + "x" + std::to_string(covered_height) +
                                 " in small: is it another slide's?");
}

void paint(RegionPlane& plane, const Regions& regions, const RegionClass& painted, std::uint8_t bit,
           std::uint64_t& work_left) {
  if (painted.value != 0) plane.paint(regions.picture, painted.value, bit);
  for (const RegionPolygon& polygon : painted.polygons) plane.paint(polygon, bit, work_left);
}

// Returns the most work that painting may take. It is proportional to the plane's pixels plus the file's bytes.
std::uint64_t most_work(const RegionPlane& plane, const Regions& regions) {
  constexpr std::uint64_t a_pixel = 64;
  return a_pixel * (plane.bytes().size() + regions.bytes);
}

}  // namespace

bool is_listed(const std::vector<std::string>& list, const std::string& name) {
  return std::ranges::any_of(list, [&](const std::string& one) { return one == "*" || one == name; });
}

bool may_show(const SlideRegions& rules, const std::string& name) {
  return !is_listed(rules.exclude, name) && (rules.include.empty() || is_listed(rules.include, name));
}

MaskGrid region_grid(const SlideFile& slide, double mpp) {
  const double of_level_0 = mpp_for_masks(slide.found.resolution);
  const Scale& scale = slide.image.scale;
  MaskGrid grid{scale.width0, scale.height0, std::max(1, static_cast<std::int32_t>(mpp / of_level_0)), 0, 0};
  const std::int64_t width = (grid.level_width + grid.k - 1) / grid.k,
                     height = (grid.level_height + grid.k - 1) / grid.k;
  constexpr std::int64_t most_pixels = std::int64_t{1} << 27;
  if (width > most_pixels / height)
    throw error_in(slide.path, Errc::limit_exceeded,
                   "its regions would be looked at with " + std::to_string(width) + "x" + std::to_string(height) +
                       " pixels, more than 134 million; take a larger `regions.mpp`");
  grid.width = static_cast<std::int32_t>(width);
  grid.height = static_cast<std::int32_t>(height);
  return grid;
}

namespace {

PlacesOnRegionPlane grid_on(const SlideFile& slide, const MaskGrid& grid,
                            const std::function<SlideBox(const GridPlace&)>& box_of) {
  PlacesOnRegionPlane places;
  places.same_columns = true;
  for (std::uint64_t column = 0; column < slide.records.grid.columns(); ++column) {
    const MaskBox box = mask_box(slide.image.scale, grid, box_of({column, 0}));
    places.columns.push_back({box.left, box.right});
  }
  for (std::uint64_t row = 0; row < slide.records.grid.rows(); ++row) {
    const MaskBox box = mask_box(slide.image.scale, grid, box_of({0, row}));
    places.rows.push_back({{box.top, box.bottom}, places.size(), places.columns.size()});
  }
  return places;
}

PlacesOnRegionPlane list_on(const SlideFile& slide, const MaskGrid& grid,
                            const std::function<SlideBox(const GridPlace&)>& box_of) {
  PlacesOnRegionPlane places;
  std::vector<std::uint32_t> order(static_cast<std::size_t>(slide.records.grid.size()));
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const std::span<const Grid::Listed> listed = slide.records.grid.listed();
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return listed[a].y != listed[b].y ? listed[a].y < listed[b].y : listed[a].x < listed[b].x;
  });
  places.place_of.resize(order.size());
  for (const std::uint32_t number : order) {
    const MaskBox box = mask_box(slide.image.scale, grid, box_of(slide.records.grid.place(number)));
    places.place_of[number] = static_cast<std::uint32_t>(places.columns.size());
    if (places.rows.empty() || places.rows.back().pixels.from != box.top || places.rows.back().pixels.to != box.bottom)
      places.rows.push_back({{box.top, box.bottom}, places.columns.size(), 0});
    ++places.rows.back().count;
    places.columns.push_back({box.left, box.right});
  }
  return places;
}

}  // namespace

PlacesOnRegionPlane places_on(const SlideFile& slide, const MaskGrid& grid,
                              const std::function<SlideBox(const GridPlace&)>& box_of) {
  return slide.records.grid.is_list() ? list_on(slide, grid, box_of) : grid_on(slide, grid, box_of);
}

void paint_regions(RegionPlane& plane, const Regions& regions, const SlideRegions& rules,
                   const std::function<void(std::size_t)>& each) {
  const MaskGrid& grid = plane.grid();
  if (regions.picture.width != 0) check_shape(regions.picture, grid);
  std::uint64_t work_left = most_work(plane, regions);
  for (const RegionClass& painted : regions.classes)
    if (is_listed(rules.exclude, painted.name)) paint(plane, regions, painted, Bits::excluded, work_left);
  std::size_t number = 0;
  for (const RegionClass& painted : regions.classes) {
    if (!may_show(rules, painted.name)) continue;
    plane.turn_into(Bits::current, Bits::included);
    paint(plane, regions, painted, Bits::current, work_left);
    if (each) each(number);
    ++number;
  }
  plane.turn_into(Bits::current, Bits::included);
}

void paint_class(RegionPlane& plane, const Regions& regions, const RegionClass& painted, std::uint8_t bit) {
  std::uint64_t work_left = most_work(plane, regions);
  paint(plane, regions, painted, bit, work_left);
}

ShownClasses strike_out_by_regions(const SlideFile& slide, const Regions& regions, const SlideRegions& rules,
                                   const std::function<SlideBox(const GridPlace&)>& box_of, std::vector<bool>& wanted) {
  ShownClasses classes;
  for (const RegionClass& one : regions.classes)
    if (may_show(rules, one.name)) classes.names.push_back(one.name);

  RegionPlane plane(region_grid(slide, rules.mpp));
  const PlacesOnRegionPlane places = places_on(slide, plane.grid(), box_of);
  const std::int32_t end = plane.grid().height;
  const auto enough = [&](std::uint64_t pixels, std::uint32_t count) {
    return count != 0 && static_cast<double>(count) >= rules.least * static_cast<double>(pixels);
  };

  // Both have an element for each place, in the order of `places`. `best` is the number of the class that has the most
  // pixels of the place so far, plus 1, or 0 for no class. `best_count` is the number of these pixels.
  std::vector<std::uint8_t> best;
  std::vector<std::uint32_t> best_count;
  if (!rules.field.empty()) {
    best.resize(places.size());
    best_count.resize(places.size());
  }
  const auto compare = [&](std::size_t number) {
    constexpr WantedBits of_class{Bits::current | Bits::excluded, Bits::current};
    count_in_places(plane, places, of_class, plane.first_row(), plane.end_row(),
                    [&](std::size_t place, std::uint64_t, std::uint32_t count) {
                      if (count <= best_count[place]) return;
                      best_count[place] = count;
                      best[place] = static_cast<std::uint8_t>(number + 1);
                    });
  };
  paint_regions(plane, regions, rules, rules.field.empty() ? std::function<void(std::size_t)>() : compare);

  std::vector<bool> allowed(places.size());
  constexpr WantedBits in_classes{Bits::included | Bits::excluded, Bits::included}, anywhere{Bits::excluded, 0};
  count_in_places(
      plane, places, rules.include.empty() ? anywhere : in_classes, 0, end,
      [&](std::size_t place, std::uint64_t pixels, std::uint32_t count) { allowed[place] = enough(pixels, count); });
  if (!best.empty() && rules.include.empty())
    count_in_places(plane, places, in_classes, 0, end,
                    [&](std::size_t place, std::uint64_t pixels, std::uint32_t count) {
                      if (!enough(pixels, count)) best[place] = 0;
                    });

  if (!best.empty()) classes.shown.resize(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::size_t place = 0;
    if (slide.records.grid.is_list()) {
      place = places.place_of[i];
    } else {
      const GridPlace at = slide.records.grid.place(i);
      place = static_cast<std::size_t>(at.row * slide.records.grid.columns() + at.column);
    }
    if (!allowed[place]) wanted[i] = false;
    if (!best.empty()) classes.shown[i] = best[place];
  }
  return classes;
}

}  // namespace penstock::slide
