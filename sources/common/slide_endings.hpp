#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace penstock::common {

namespace slide_endings {

constexpr std::array<std::string_view, 22> slides{
    ".svs", ".tif", ".tiff", ".ndpi",   ".mrxs", ".scn",     ".bif", ".svslide", ".vms",  ".vmu", ".dcm",
    ".czi", ".jp2", ".btf",  ".qptiff", ".vsi",  ".isyntax", ".kfb", ".sdpc",    ".tmap", ".mds", ".zvi"};
constexpr std::array<std::string_view, 3> features{".h5", ".pt", ".npy"};

inline bool has_one_of(std::string_view path, const auto& endings) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string ending(path.substr(dot));
  for (char& letter : ending) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return std::ranges::find(endings, ending) != endings.end();
}

}  // namespace slide_endings

/// Whether a path ends as a slide's file does, in letters of either case: "A/1.SVS".
inline bool has_ending_of_slides(std::string_view path) {
  return slide_endings::has_one_of(path, slide_endings::slides);
}

/// Whether it ends as files do that keep what was made of a slide: "A/1.h5".
inline bool has_ending_of_features(std::string_view path) {
  return slide_endings::has_one_of(path, slide_endings::features);
}

}  // namespace penstock::common
