// SPDX-License-Identifier: Apache-2.0
#include "source/places.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <string>
#include <vector>

#include "file/errors.hpp"
#include "regions/region_file.hpp"
#include "regions/region_origin.hpp"
#include "regions/region_places.hpp"
#include "source/listed_places.hpp"
#include "source/place_box.hpp"
#include "tissue/tissue_places.hpp"

namespace penstock::slide {

namespace {

int digits_of(std::int64_t number) { return static_cast<int>(std::to_string(number).size()); }

// Keeps only the wanted places and their classes.
void keep_places(SlideFile& slide, const std::vector<bool>& wanted, const ShownClasses& classes) {
  if (!classes.shown.empty()) {
    const auto kept = static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), true));
    const auto bits = static_cast<unsigned>(std::bit_width(classes.names.size()));
    slide.records.shown_classes = PackedNumbers(kept, std::max(1u, bits));
    std::size_t record = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) slide.records.shown_classes.set(record++, classes.shown[i]);
  }
  slide.records.grid.keep(wanted);
}

}  // namespace

Grid whole_grid(const SlideFile& slide, const Slides& options) {
  const Scale& scale = slide.image.scale;
  return Grid(scale.width - scale.x_in_image(options.left), scale.height - scale.y_in_image(options.top), options.size,
              options.stride, options.edges, options.order);
}

void lay_grid(SlideFile& slide, const Slides& options, const SlideCoords* list) {
  const Scale& scale = slide.image.scale;
  slide.records.digits = std::max(slide.records.digits, digits_of(std::max(scale.width0, scale.height0)));
  if (slide.failure) return;
  if (options.coords.empty()) {
    slide.records.grid = whole_grid(slide, options);
  } else {
    slide.choice.without_list = list == nullptr;
    slide.records.grid = list == nullptr ? Grid::of_list({}, 1, options.order) : listed_places(slide, *list, options);
  }
  slide.records.places = slide.records.grid.size();
}

void take_classes(SlideFile& slide, const SlideRegions& regions) {
  if (slide.region_file.empty() || !slide.choice.classes.empty()) return;
  try {
    for (const RegionClass& one : read_region_file(slide.region_file).classes) {
      slide.choice.classes.push_back(one.name);
      if (may_show(regions, one.name)) slide.choice.shown.push_back(one.name);
    }
  } catch (const Error& failed) {
    if (!failed.sample_scoped()) throw;
  }
}

void choose_places(SlideFile& slide, const Slides& options, const std::optional<TissueMask>& mask) {
  const bool by_tissue = options.tissue.by != SlideTissue::By::everywhere, by_regions = !options.regions.folder.empty();
  if (!by_tissue && !by_regions) return;
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  if (slide.records.grid.size() > most)
    throw error_in(slide.path, Errc::limit_exceeded,
                   "its grid has " + std::to_string(slide.records.grid.size()) +
                       " places; 2,147,483,648 can be chosen from by tissue and regions");
  std::vector<bool> wanted(static_cast<std::size_t>(slide.records.grid.size()), true);
  const auto box_of = [&](const GridPlace& place) { return place_box(slide, options, place); };
  if (by_tissue && !wanted.empty()) {
    strike_out_glass(slide, *mask, options.tissue.least, box_of, wanted);
    slide.choice.unread_mask = mask->why_unknown;
  }
  ShownClasses classes;
  if (by_regions) {
    const PlacedRegions placed = read_placed_regions(slide, options.regions);
    const Regions& regions = placed.regions;
    for (const RegionClass& one : regions.classes) slide.choice.classes.push_back(one.name);
    slide.choice.without_area = regions.without_area;
    slide.choice.no_annotation = regions.no_annotation;
    slide.choice.moved_x = placed.moved_x;
    slide.choice.moved_y = placed.moved_y;
    if (!wanted.empty()) classes = strike_out_by_regions(slide, regions, options.regions, box_of, wanted);
  }
  if (!wanted.empty()) keep_places(slide, wanted, classes);
  slide.choice.struck = slide.records.places - slide.records.grid.size();
  slide.choice.shown = std::move(classes.names);
}

}  // namespace penstock::slide
