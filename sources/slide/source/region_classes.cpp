// SPDX-License-Identifier: Apache-2.0
#include "source/region_classes.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "file/errors.hpp"
#include "source/check_options.hpp"
#include "source/slide_opener.hpp"

namespace penstock::slide {

std::vector<std::string> unknown_classes(const SlideRegions& regions, const std::vector<SlideFile>& slides) {
  std::vector<std::string> unknown;
  // A slide that can't be read may have a class that no other slide has.
  const bool all_read = std::ranges::none_of(slides, [](const SlideFile& slide) { return slide.failure.has_value(); });
  std::set<std::string> there;
  for (const SlideFile& slide : slides) there.insert(slide.choice.classes.begin(), slide.choice.classes.end());
  for (const std::vector<std::string>* list : {&regions.include, &regions.exclude})
    for (const std::string& name : *list)
      if (name != "*" && !there.contains(name)) {
        const std::string of_class =
            " has a region of the class \"" + printable(name) + "\"; " +
            (there.empty() ? "there are no regions at all" : "there are: " + listed({there.begin(), there.end()}));
        if (all_read) throw error_in(regions.folder, Errc::invalid_argument, "no slide" + of_class);
        unknown.push_back("no slide that can be read" + of_class);
      }
  return unknown;
}

std::vector<std::string> number_classes(const SlideRegions& regions, std::vector<SlideFile>& slides) {
  std::set<std::string> names;
  if (!regions.include.empty() && !takes_all(regions.include))
    names.insert(regions.include.begin(), regions.include.end());
  for (const SlideFile& slide : slides) names.insert(slide.choice.shown.begin(), slide.choice.shown.end());
  if (regions.include.empty()) names.insert("");
  for (SlideFile& slide : slides)
    for (const std::string& name : slide.choice.shown)
      slide.records.class_numbers.push_back(std::distance(names.begin(), names.find(name)));
  return {names.begin(), names.end()};
}

std::int64_t shown_class(const SlideFile& slide, std::uint64_t record) noexcept {
  if (slide.records.shown_classes.words().empty()) return 0;
  const std::uint64_t shown = slide.records.shown_classes[static_cast<std::size_t>(record)];
  return shown == 0 ? 0 : slide.records.class_numbers[static_cast<std::size_t>(shown) - 1];
}

}  // namespace penstock::slide
