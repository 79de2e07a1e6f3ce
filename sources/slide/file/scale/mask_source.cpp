// SPDX-License-Identifier: Apache-2.0
#include "file/scale/mask_source.hpp"

#include <algorithm>

namespace penstock::slide {

double mpp_for_masks(const Resolution& resolution) noexcept {
  constexpr double usual = 0.5;
  return resolution.mpp_x != 0 ? (resolution.mpp_x + resolution.mpp_y) / 2 : usual;
}

MaskSource choose_mask_source(std::span<const Level> levels, const Resolution& resolution, double mpp) {
  const double of_first = mpp_for_masks(resolution);
  const auto mpp_of = [&](const Level& level) {
    return of_first * static_cast<double>(levels.front().width) / static_cast<double>(level.width);
  };
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (levels[i].unreadable.empty() && mpp_of(levels[i]) <= mpp) chosen = i;
  const double of_level = mpp_of(levels[chosen]);
  const std::int32_t k = std::max(1, static_cast<std::int32_t>(mpp / of_level));
  MaskSource source{chosen, levels[chosen], k, of_level * k};
  for (std::size_t i = chosen + 1; i < levels.size(); ++i)
    if (levels[i].unreadable.empty()) source.coarser.push_back({i, levels[i]});
  return source;
}

}  // namespace penstock::slide
