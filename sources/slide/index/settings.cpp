// SPDX-License-Identifier: Apache-2.0
#include "index/settings.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <vector>

namespace penstock::slide {

namespace {

class Lines {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  void add(std::string_view name, T value) {
    std::array<char, 40> text{};
    const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
    add(name, std::string_view(text.data(), static_cast<std::size_t>(written.ptr - text.data())));
  }
  void add(std::string_view name, std::string_view value) { text_.append(name).append(" ").append(value).append("\n"); }
  void add(std::string_view name, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + value;
    add(name, std::string_view(list));
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string index_settings(const Slides& options) {
  Lines lines;
  lines.add("level", options.level);
  lines.add("mpp", options.mpp);
  lines.add("magnification", options.magnification);
  lines.add("mpp_tolerance", options.mpp_tolerance);
  lines.add("size", options.size);
  lines.add("stride", options.stride);
  lines.add("left", options.left);
  lines.add("top", options.top);
  constexpr std::array edges{"drop", "pad", "shrink"};  // names in the order of SlideEdges
  lines.add("edges", edges[static_cast<std::size_t>(options.edges)]);
  lines.add("assumed_mpp", options.assumed_mpp);
  lines.add("coords", options.coords.empty() ? "no" : "yes");
  lines.add("coords_of_any_size", options.coords_of_any_size ? "yes" : "no");
  const SlideTissue& tissue = options.tissue;
  constexpr std::array ways{"everywhere", "saturation", "grey"};  // names in the order of SlideTissue::By
  lines.add("tissue", ways[static_cast<std::size_t>(tissue.by)]);
  if (tissue.by != SlideTissue::By::everywhere) {
    lines.add("tissue.least", tissue.least);
    lines.add("tissue.mpp", tissue.mpp);
    lines.add("tissue.threshold", tissue.threshold);
    lines.add("tissue.closing", tissue.closing);
    lines.add("tissue.least_area", tissue.least_area);
  }
  const SlideStain& stain = options.stain;
  constexpr std::array methods{"macenko", "reinhard"};  // names in the order of StainMethod
  lines.add("stain", stain.method ? methods[static_cast<std::size_t>(*stain.method)] : "no");
  if (stain.method) lines.add("stain.patches", stain.patches);
  const SlideRegions& regions = options.regions;
  lines.add("regions", regions.folder.empty() ? "no" : "yes");
  if (!regions.folder.empty()) {
    lines.add("regions.include", regions.include);
    lines.add("regions.exclude", regions.exclude);
    lines.add("regions.least", regions.least);
    lines.add("regions.field", regions.field.empty() ? "no" : "yes");
    lines.add("regions.mpp", regions.mpp);
    constexpr std::array origins{"automatic", "slide", "bounds"};  // names in the order of SlideRegions::Origin
    lines.add("regions.origin", origins[static_cast<std::size_t>(regions.origin)]);
  }
  return lines.text();
}

std::string first_difference(const std::string& made, const std::string& asked) {
  std::istringstream one(made), other(asked);
  std::string of_made, of_asked;
  while (true) {
    const bool more = static_cast<bool>(std::getline(one, of_made));
    if (const bool wanted = static_cast<bool>(std::getline(other, of_asked)); !more && !wanted)
      return "";
    else if (!more || !wanted || of_made != of_asked)
      return (more ? of_made : "nothing") + ", and " + (wanted ? of_asked : "nothing") + " is asked for";
  }
}

}  // namespace penstock::slide
