// Which places of the slides are records, by tissue and by regions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "common/on_threads.hpp"
#include "file/errors.hpp"
#include "regions/region_file.hpp"
#include "regions/region_places.hpp"
#include "source/place_box.hpp"
#include "source/source_impl.hpp"
#include "tissue/tissue_places.hpp"

namespace penstock {

using slide::GridPlace;
using slide::SlideFile;

namespace {

// The first of them, in a sentence.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t told = 10;
  std::string list;
  for (std::size_t i = 0; i < std::min(told, names.size()); ++i) list += (i == 0 ? "" : ", ") + printable(names[i]);
  return names.size() > told ? list + ", ..." : list;
}

bool takes_all(const std::vector<std::string>& list) { return std::ranges::find(list, "*") != list.end(); }

}  // namespace

void SlideSource::Impl::check_regions() const {
  const SlideRegions& regions = options.regions;
  const auto refuse = [](const std::string& why) {
    throw Error(Errc::invalid_argument, why).with_source(slide::source_name);
  };
  if (regions.folder.empty()) {
    if (!regions.include.empty() || !regions.exclude.empty() || !regions.field.empty())
      refuse("`regions` names classes, or a field, but no `folder` with files of regions");
    return;
  }
  if (regions.include.empty() && regions.exclude.empty() && regions.field.empty())
    refuse("`regions.folder` is given, but nothing is asked of it: give `include`, `exclude` or `field`");
  constexpr double least_mpp = 0.05, most_mpp = 200;
  if (!(regions.mpp >= least_mpp && regions.mpp <= most_mpp))
    refuse("`regions.mpp` is " + std::to_string(regions.mpp) + "; 0.05 to 200 are possible");
  if (!(regions.least >= 0 && regions.least <= 1))
    refuse("`regions.least` is " + std::to_string(regions.least) + "; 0 to 1 are possible");
  for (const std::string& name : regions.include)
    if (std::ranges::find(regions.exclude, name) != regions.exclude.end())
      refuse("`regions` has the class \"" + printable(name) + "\" in `include` and in `exclude`");
  if (takes_all(regions.exclude) && !regions.include.empty())
    refuse("`regions.exclude` is every class, so none is left to `include`");
}

// Each slide's file of regions.
void SlideSource::Impl::find_region_files() {
  if (options.regions.folder.empty()) return;
  std::vector<std::string> without;
  for (SlideFile& slide : slides) {
    slide.region_file = slide::find_region_file(options.regions.folder, slide.name, slide.path);
    if (slide.region_file.empty()) without.push_back(slide.name);
  }
  without_regions_ = without.size();
  if (!without.empty() && options.regions.missing == SlideRegions::Missing::refuse)
    throw slide::error_in(
        options.regions.folder, Errc::invalid_argument,
        std::to_string(without.size()) + " of " + std::to_string(slides.size()) +
            " slides have no file of regions in it, NAME.geojson, .json, .xml or .png: " + listed(without) +
            "; give them one, or let them have no region by `regions.missing = "
            "SlideRegions::Missing::empty`");
}

// Slides are looked at on all cores. One whose mask or regions can't be had can't be read.
void SlideSource::Impl::choose_places() {
  const bool by_tissue = options.tissue.by != SlideTissue::By::everywhere, by_regions = !options.regions.folder.empty();
  if (!by_tissue && !by_regions) return;
  struct Found {
    std::vector<std::string> there;  // classes that the file has
    slide::ShownClasses classes;
    std::uint64_t without_area = 0, no_annotation = 0;
  };
  std::vector<Found> found(slides.size());
  common::for_each_on_threads(slides.size(), 0, [&](std::size_t i) {
    SlideFile& slide = slides[i];
    if (slide.failure) return;
    std::vector<bool> wanted(static_cast<std::size_t>(slide.grid.size()), true);
    const auto box_of_place = [&](const GridPlace& place) { return slide::place_box(slide, options, place); };
    try {
      if (by_tissue && !wanted.empty())
        strike_out_glass(slide, make_mask(readers, slide, options.tissue), options.tissue.least, box_of_place, wanted);
      if (by_regions) {
        const slide::Regions regions =
            slide.region_file.empty() ? slide::Regions() : slide::read_region_file(slide.region_file);
        for (const slide::RegionClass& one : regions.classes) found[i].there.push_back(one.name);
        found[i].without_area = regions.without_area;
        found[i].no_annotation = regions.no_annotation;
        if (!wanted.empty())
          found[i].classes = strike_out_by_regions(slide, regions, options.regions, box_of_place, wanted);
      }
      keep_places(slide, wanted, found[i].classes);
    } catch (const Error& failed) {
      if (!failed.sample_scoped()) throw;
      slide.failure = failed.file().empty() && !slide.region_file.empty()
                          ? slide::error_in(slide.region_file, failed.code(), failed.cause())
                          : failed;
      slide.grid = slide::Grid::of_one();
    }
    slide.mask_source.reset();
  });
  if (!by_regions) return;
  std::set<std::string> there;
  std::vector<std::vector<std::string>> told;
  for (Found& one : found) {
    there.insert(one.there.begin(), one.there.end());
    told.push_back(std::move(one.classes.names));
    without_area_ += one.without_area;
    no_annotation_ += one.no_annotation;
  }
  check_classes({there.begin(), there.end()});
  if (!options.regions.field.empty()) number_classes(told);
}

void SlideSource::Impl::keep_places(SlideFile& slide, const std::vector<bool>& wanted,
                                    const slide::ShownClasses& classes) {
  if (!classes.shown.empty()) {
    const auto kept = static_cast<std::size_t>(std::count(wanted.begin(), wanted.end(), true));
    slide.shown_classes =
        slide::PackedNumbers(kept, std::max(1u, static_cast<unsigned>(std::bit_width(classes.names.size()))));
    std::size_t record = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i]) slide.shown_classes.set(record++, classes.shown[i]);
  }
  if (!wanted.empty()) slide.grid.keep(wanted);
}

// A class that is misspelt would leave out everything, or nothing, without a word.
void SlideSource::Impl::check_classes(const std::vector<std::string>& there) const {
  const SlideRegions& regions = options.regions;
  if (std::ranges::any_of(slides, [](const SlideFile& slide) { return slide.failure.has_value(); })) return;
  for (const std::vector<std::string>* list : {&regions.include, &regions.exclude})
    for (const std::string& name : *list)
      if (name != "*" && !std::ranges::binary_search(there, name))
        throw slide::error_in(regions.folder, Errc::invalid_argument,
                              "no slide has a region of the class \"" + printable(name) + "\"; " +
                                  (there.empty() ? "there are no regions at all" : "there are: " + listed(there)));
}

// `told`: the classes of each slide that records may show.
void SlideSource::Impl::number_classes(const std::vector<std::vector<std::string>>& told) {
  const SlideRegions& regions = options.regions;
  std::set<std::string> names;
  if (!regions.include.empty() && !takes_all(regions.include))
    names.insert(regions.include.begin(), regions.include.end());
  for (const std::vector<std::string>& of_slide : told) names.insert(of_slide.begin(), of_slide.end());
  if (regions.include.empty()) names.insert("");
  region_classes.assign(names.begin(), names.end());
  for (std::size_t i = 0; i < slides.size(); ++i)
    for (const std::string& name : told[i])
      slides[i].class_numbers.push_back(std::distance(names.begin(), names.find(name)));
}

std::int64_t SlideSource::Impl::shown_class(const SlideFile& slide, std::uint64_t record) const noexcept {
  const std::uint64_t shown = slide.shown_classes[static_cast<std::size_t>(record)];
  return shown == 0 ? 0 : slide.class_numbers[static_cast<std::size_t>(shown) - 1];
}

}  // namespace penstock
