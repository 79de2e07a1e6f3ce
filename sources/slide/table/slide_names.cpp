// SPDX-License-Identifier: Apache-2.0
#include "table/slide_names.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "file/errors.hpp"

namespace penstock::slide {

namespace {

std::vector<std::string> sorted(std::span<const std::string> names) {
  std::vector<std::string> copy(names.begin(), names.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

bool all_differ(std::span<const std::string> names) {
  const std::vector<std::string> in_order = sorted(names);
  return std::adjacent_find(in_order.begin(), in_order.end()) == in_order.end();
}

}  // namespace

std::string file_name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string without_ending(const std::string& name) {
  const std::size_t dot = name.rfind('.'), begin = name.rfind('/') + 1;
  if (dot == std::string::npos || dot <= begin) return name;
  std::string stem = name.substr(0, dot);
  constexpr std::string_view ome = ".ome";
  if (stem.ends_with(ome) && stem.size() > begin + ome.size()) stem.resize(stem.size() - ome.size());
  return stem;
}

std::vector<std::string> names_of_slides(std::span<const std::string> given) {
  const std::vector<std::string> as_given = sorted(given);
  if (const auto twice = std::adjacent_find(as_given.begin(), as_given.end()); twice != as_given.end())
    throw error_in(*twice, Errc::invalid_argument, "the file is named twice");
  // Makes paths absolute and normal, so that names depend neither on the spelling of folders nor on the current folder.
  std::vector<std::string> paths;
  for (const std::string& path : given)
    paths.push_back(std::filesystem::absolute(path).lexically_normal().generic_string());
  const std::vector<std::string> in_order = sorted(paths);
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(without_ending(file_name_of(path)));
  if (all_differ(names)) return names;
  // The paths are sorted here, so all paths have the beginning that the first and the last path have in common.
  const std::string &first = in_order.front(), &last = in_order.back();
  const auto same = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first - first.begin();
  const std::size_t below = first.substr(0, static_cast<std::size_t>(same)).rfind('/') + 1;
  for (std::size_t i = 0; i < paths.size(); ++i) names[i] = without_ending(paths[i].substr(below));
  if (all_differ(names)) return names;
  for (std::size_t i = 0; i < paths.size(); ++i) names[i] = paths[i].substr(below);
  return names;
}

}  // namespace penstock::slide
