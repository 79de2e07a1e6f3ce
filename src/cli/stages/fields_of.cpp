// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stages/stage_lists.hpp"

namespace penstock::cli {

namespace {

// What a field is, by its ending. Without one, the first field of the list is an image, and later fields are masks.
constexpr std::pair<std::string_view, ImageField (*)(std::string)> endings[] = {
    {":nearest", mask},
    {":boxes", boxes},
    {":points", [](std::string name) { return points(std::move(name)); }},
    {":masks", instance_masks},
    {":crop", crop_box}};

}  // namespace

ImageFields fields_of(const Arguments& a) {
  if (!a.given("field")) return "image";
  std::vector<ImageFields::Item> items;
  for (const std::string& name : a.names("field")) {
    const auto ending = std::ranges::find_if(endings, [&](const auto& e) { return name.ends_with(e.first); });
    if (ending == std::end(endings))
      items.emplace_back(name);
    else
      items.emplace_back(ending->second(name.substr(0, name.size() - ending->first.size())));
  }
  return ImageFields(items);
}

}  // namespace penstock::cli
