// SPDX-License-Identifier: Apache-2.0
#include "bag_table.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <penstock/extend/listing.hpp>
#include <penstock/sources/slide_endings.hpp>

#include "bag_file.hpp"
#include "common/tables/text_table.hpp"

namespace penstock::coords {

namespace {

using common::no_match;
using common::several;

// Returns whether the file's name ends like a file of features.
bool names_features(std::string_view file) {
  return has_ending(file, ".h5") || has_ending(file, ".pt") || has_ending(file, ".npy");
}

// Returns the name without the ending of a slide's or a features' file: "A/1.ome" for "A/1.ome.tif". Returns an empty
// text if the name has no such ending.
std::string_view without_files_ending(std::string_view file) {
  const bool ends = names_slide(file) || names_features(file) || has_ending(file, ".jp2");
  return ends ? file.substr(0, file.rfind('.')) : std::string_view();
}

// Finds slides by the ends of their names. The ends of "A/1" are "A/1" and "1".
class NameEnds {
 public:
  explicit NameEnds(std::span<const std::string> slides) {
    for (std::size_t i = 0; i < slides.size(); ++i) {
      const std::string& name = slides[i];
      whole_.emplace(name, i);
      parts_ = std::max<std::size_t>(parts_, 1 + static_cast<std::size_t>(std::ranges::count(name, '/')));
      for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
        if (const auto [end, added] = ends_.emplace(name.substr(slash + 1), i); !added) end->second = several;
    }
  }

  common::FoundSlides find(std::span<const std::string> cells) const {
    common::FoundSlides found;
    for (const std::string& cell : cells) {
      found.slides.push_back(slide_of(cell));
      found.exact += found.slides.back() < several;
    }
    return found;
  }

 private:
  using Names = std::unordered_map<std::string, std::size_t>;

  // Looks for a slide whose name is the cell. Then looks for one whose name ends with the cell, and then for the
  // longest name that the cell ends with. If these three searches find no slide, tries again without the cell's file
  // extension, and then also without ".ome".
  std::size_t slide_of(std::string_view cell) const {
    for (std::string_view name = cell; !name.empty();) {
      for (const Names* const names : {&whole_, &ends_})
        if (const auto found = names->find(std::string(name)); found != names->end()) return found->second;
      if (const std::size_t slide = slide_at_end(name); slide != no_match) return slide;
      constexpr std::string_view ome = ".ome";
      const bool more = name.size() != cell.size() && name.ends_with(ome);
      if (name.size() != cell.size() && !more) return no_match;
      name = more ? name.substr(0, name.size() - ome.size()) : without_files_ending(name);
    }
    return no_match;
  }
  std::size_t slide_at_end(std::string_view cell) const {
    // Keeps only the last `parts_` parts, because no slide's name has more. Otherwise, the time for a cell with
    // many parts would grow with the square of its length.
    std::size_t first = cell.size();
    for (std::size_t part = 0; part < parts_ && first != std::string_view::npos; ++part)
      first = first == 0 ? std::string_view::npos : cell.rfind('/', first - 1);
    if (first != std::string_view::npos) cell.remove_prefix(first + 1);
    while (true) {
      if (const auto found = whole_.find(std::string(cell)); found != whole_.end()) return found->second;
      const std::size_t slash = cell.find('/');
      if (slash == std::string_view::npos) return no_match;
      cell.remove_prefix(slash + 1);
    }
  }

  Names whole_, ends_;
  std::size_t parts_ = 0;  // the most parts that a slide's name has
};

}  // namespace

BagTable read_bag_table(const FeatureBags& options, std::span<const SlideFeatureFile> slides) {
  const common::TextTable cells(options.labels, bags_name);
  std::vector<std::string> names;
  for (const SlideFeatureFile& slide : slides) names.push_back(slide.slide);
  const NameEnds ends(names);
  return common::read_slide_lines(cells,
                                  {.slide_column = options.slide_column,
                                   .columns = options.columns,
                                   .group = options.group,
                                   .say_more = "more of its path"},
                                  names, [&](std::span<const std::string> column) { return ends.find(column); });
}

}  // namespace penstock::coords
