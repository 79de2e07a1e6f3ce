// SPDX-License-Identifier: Apache-2.0
#include "picture/picture_mapping.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace penstock::slide {

namespace {

std::int64_t longer_side(const Level& level) { return std::max(level.width, level.height); }

// Returns, for each pixel along a side of the picture, the mask's pixel at its centre.
std::vector<std::size_t> centres(std::int32_t pixels, double whole, std::int32_t mask, std::int64_t level,
                                 std::int32_t k) {
  std::vector<std::size_t> at(static_cast<std::size_t>(pixels));
  const double of_one = static_cast<double>(level) / k / whole;
  for (std::size_t i = 0; i < at.size(); ++i)
    at[i] =
        std::min(static_cast<std::size_t>((static_cast<double>(i) + 0.5) * of_one), static_cast<std::size_t>(mask) - 1);
  return at;
}

}  // namespace

OverviewSource choose_overview(std::span<const Level> levels, std::int32_t side) {
  std::optional<std::size_t> chosen;
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (levels[i].unreadable.empty() && (!chosen || longer_side(levels[i]) >= side)) chosen = i;
  const std::size_t level = chosen.value_or(0);
  return {level, static_cast<std::int32_t>((longer_side(levels[level]) + side - 1) / side)};
}

PictureMapping::Axis PictureMapping::axis(std::int64_t level, std::int64_t image, std::int32_t k) noexcept {
  const double whole = static_cast<double>(level) / k;
  return {static_cast<std::int32_t>((level + k - 1) / k), image, whole / static_cast<double>(image), whole};
}

PictureMapping::PictureMapping(const SlideFile& slide, const OverviewSource& source)
    : across_(axis(slide.all_levels[source.level].width, slide.image.scale.width, source.k)),
      down_(axis(slide.all_levels[source.level].height, slide.image.scale.height, source.k)),
      step_(static_cast<double>(slide.image.scale.width0) / across_.whole) {}

Area PictureMapping::area_of(const SlideBox& box) const noexcept {
  const auto range = [](const Axis& axis, std::int64_t begin, std::int64_t size) {
    const auto at = [&](std::int64_t place) {
      if (place >= axis.image) return axis.pixels;
      const double there = std::floor(static_cast<double>(place) * axis.scale + 0.5);
      return static_cast<std::int32_t>(std::clamp(there, 0.0, static_cast<double>(axis.pixels)));
    };
    const std::int32_t from = std::min(at(begin), axis.pixels - 1);
    return std::pair(from, std::max(at(begin + size), from + 1));
  };
  const auto [left, right] = range(across_, box.x, box.width);
  const auto [top, bottom] = range(down_, box.y, box.height);
  return {left, top, right, bottom};
}

std::vector<std::uint8_t> PictureMapping::seen_through(std::span<const std::uint8_t> mask, const MaskGrid& grid) const {
  const auto columns = centres(across_.pixels, across_.whole, grid.width, grid.level_width, grid.k);
  const auto rows = centres(down_.pixels, down_.whole, grid.height, grid.level_height, grid.k);
  std::vector<std::uint8_t> seen;
  seen.reserve(columns.size() * rows.size());
  for (const std::size_t row : rows)
    for (const std::size_t column : columns) seen.push_back(mask[row * static_cast<std::size_t>(grid.width) + column]);
  return seen;
}

}  // namespace penstock::slide
