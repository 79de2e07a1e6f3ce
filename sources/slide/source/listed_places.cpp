// SPDX-License-Identifier: Apache-2.0
#include "source/listed_places.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "file/errors.hpp"
#include "table/slide_names.hpp"

namespace penstock::slide {

namespace {

constexpr std::size_t several = static_cast<std::size_t>(-1);

// Returns the numbers of slides by their names, and by the last parts of their names. A last part that several slides
// have gets the number `several`.
std::unordered_map<std::string, std::size_t> by_name(const std::vector<std::string>& names,
                                                     const std::vector<std::string>& paths) {
  std::unordered_map<std::string, std::size_t> slides;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [there, fresh] = slides.emplace(file_name_of(names[i]), i);
    if (!fresh) there->second = several;
  }
  // CLAM calls the slide a.ome.tif "a.ome". So this loop adds names that have the slide's folders and its file's name
  // without the last extension.
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string file = file_name_of(paths[i]), stem = file.substr(0, file.rfind('.'));
    slides.emplace(names[i].substr(0, names[i].rfind('/') + 1) + stem, i);
  }
  for (std::size_t i = 0; i < names.size(); ++i) slides[names[i]] = i;
  return slides;
}

Error list_error(const SlideFile& slide, const SlideCoords& list, Errc code, const std::string& why) {
  return error_in(list.file.empty() ? slide.path : list.file, code, "slide " + printable(slide.name) + ": " + why);
}

// Returns how many pixels of level 0 a pixel of the list's level covers along each side. Prefers the list's own value,
// because the slide's levels may differ from those that the list was made with.
double pixels_of_level_0(const SlideFile& slide, const SlideCoords& list) {
  if (list.downsample > 0) return list.downsample;
  if (list.level < 0 || static_cast<std::size_t>(list.level) >= slide.found.levels.size())
    throw list_error(slide, list, Errc::unsupported,
                     "its places are of level " + std::to_string(list.level) + ", and it has " +
                         std::to_string(slide.found.levels.size()) + " levels");
  return static_cast<double>(slide.image.scale.width0) /
         static_cast<double>(slide.found.levels[static_cast<std::size_t>(list.level)].width);
}

// Checks that the list's places have the size of records, in pixels of level 0.
void check_size(const SlideFile& slide, const SlideCoords& list, std::int32_t record_size) {
  if (list.size == 0) return;
  const double listed = list.size * pixels_of_level_0(slide, list);
  const double record =
      record_size * static_cast<double>(slide.image.scale.width0) / static_cast<double>(slide.image.scale.width);
  constexpr double tolerance = 0.03;
  if (std::abs(listed - record) <= std::max(1.0, tolerance * listed)) return;
  const auto pixels = [](double value) { return std::to_string(std::llround(value)); };
  throw list_error(slide, list, Errc::unsupported,
                   "its places show " + pixels(listed) + " pixels of level 0 on each side, and records " +
                       pixels(record) +
                       "; give another `size`, or other pixels, or take them all the same by "
                       "`coords_of_any_size = true`");
}

// Checks that the list can belong to the slide.
void check_slide(const SlideFile& slide, const SlideCoords& list) {
  // The slide's size in the list may have been computed from a coarser level, so it may be wrong by a pixel of that
  // level.
  const double off = std::max(1.0, list.downsample);
  const auto is_other = [&](std::int64_t said, std::int64_t there) {
    return said != 0 && std::abs(static_cast<double>(said - there)) >= off;
  };
  if (!is_other(list.slide_width, slide.image.scale.width0) && !is_other(list.slide_height, slide.image.scale.height0))
    return;
  const auto pixels = [](std::int64_t said) { return said == 0 ? "?" : std::to_string(said); };
  throw list_error(slide, list, Errc::unsupported,
                   "the list is of a slide of " + pixels(list.slide_width) + "x" + pixels(list.slide_height) +
                       " pixels, and this one has " + pixels(slide.image.scale.width0) + "x" +
                       pixels(slide.image.scale.height0) +
                       "; give the slide that it was made of, or a list of this one");
}

}  // namespace

SlideLists find_lists(const Slides& options, const std::vector<std::string>& names) {
  SlideLists lists;
  if (options.coords.empty()) return lists;
  const auto slides_by_name = by_name(names, options.paths);
  lists.of_slides.resize(names.size());
  bool any = false;
  for (const SlideCoords& list : options.coords) {
    auto at = slides_by_name.find(list.slide);
    if (constexpr std::string_view ending = "_patches"; at == slides_by_name.end() && list.slide.ends_with(ending))
      at = slides_by_name.find(list.slide.substr(0, list.slide.size() - ending.size()));
    if (at == slides_by_name.end()) {
      ++lists.of_none;
      continue;
    }
    if (at->second == several)
      throw error_in(
          list.file, Errc::invalid_argument,
          "several slides are called " + printable(list.slide) + "; say which, as in a/" + printable(list.slide));
    const SlideCoords*& of_slide = lists.of_slides[at->second];
    if (of_slide != nullptr)
      throw error_in(list.file, Errc::invalid_argument,
                     "slide " + printable(names[at->second]) + " has two lists of places" +
                         (of_slide->file.empty() ? "" : "; the other one is in " + of_slide->file));
    of_slide = &list;
    any = true;
  }
  if (!any)
    throw Error(Errc::invalid_argument, "none of the " + std::to_string(options.coords.size()) +
                                            " lists in `coords` is of a slide that is here; the first is of " +
                                            printable(options.coords.front().slide))
        .with_source(source_name);
  return lists;
}

Grid listed_places(SlideFile& slide, const SlideCoords& list, const Slides& options) {
  check_slide(slide, list);
  if (!options.coords_of_any_size) check_size(slide, list, options.size);
  const Scale& scale = slide.image.scale;
  std::vector<Grid::Listed> places;
  places.reserve(list.at.size());
  for (const auto& [x, y] : list.at) {
    const std::int64_t left = scale.x_in_image(x), top = scale.y_in_image(y);
    const std::int64_t within = options.edges == SlideEdges::drop ? options.size : 1;
    if (x >= 0 && y >= 0 && left + within <= scale.width && top + within <= scale.height)
      places.push_back({x, y});
    else
      ++slide.choice.beyond;
  }
  std::sort(places.begin(), places.end());
  const auto twice = std::unique(places.begin(), places.end());
  slide.choice.twice = static_cast<std::uint64_t>(places.end() - twice);
  places.erase(twice, places.end());
  const double step = options.stride * static_cast<double>(scale.width0) / static_cast<double>(scale.width);
  return Grid::of_list(std::move(places), std::max<std::int64_t>(1, std::llround(step)), options.order);
}

}  // namespace penstock::slide
