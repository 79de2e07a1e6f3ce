// SPDX-License-Identifier: Apache-2.0
#include "file/scale/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include <penstock/error.hpp>

namespace penstock::slide {

namespace {

std::string short_number(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.5g", value);
  return text.data();
}

// Differences up to this share count as none, because some tags store sizes of pixels with only 24 bits.
constexpr double rounding = 1e-6;
constexpr const char* way_out = "; say it in a column of `labels` that `mpp_column` names, or in `assumed_mpp`";

// The number of pixels of level 0, or of another level, that one pixel of the image covers, across and down.
struct Factors {
  double x = 1, y = 1;
};

Factors wanted_factors(const ScaleRequest& wanted, const Resolution& resolution) {
  const bool known = resolution.mpp_x != 0;
  if (wanted.mpp != 0) {
    if (known) return {wanted.mpp / resolution.mpp_x, wanted.mpp / resolution.mpp_y};
    throw Error(Errc::unsupported,
                (resolution.refused.empty() ? "the file doesn't say how large a pixel is" : resolution.refused) +
                    std::string(way_out));
  }
  double own = resolution.magnification;
  if (own == 0 && known) own = usual_magnification((resolution.mpp_x + resolution.mpp_y) / 2);
  if (own == 0)
    throw Error(Errc::unsupported,
                std::string("the file says neither the objective's magnification nor how large a pixel is") + way_out);
  return {own / wanted.magnification, own / wanted.magnification};
}

std::string words_of(const ScaleRequest& wanted) {
  return wanted.mpp != 0 ? short_number(wanted.mpp) + " micrometres a pixel"
                         : "a magnification of " + short_number(wanted.magnification);
}

}  // namespace

ScaleChoice choose_level(const ScaleRequest& wanted, std::span<const Level> levels, const Resolution& resolution,
                         const std::string& missing) {
  const Level& first = levels.front();
  const auto stored = [&](std::size_t i) {
    return ScaleChoice{i, {levels[i].width, levels[i].height, first.width, first.height, false}};
  };
  if (wanted.mpp == 0 && wanted.magnification == 0) {
    const auto level = static_cast<std::size_t>(wanted.level);
    if (level < levels.size() && !levels[level].unreadable.empty())
      throw Error(Errc::unsupported,
                  "its level " + std::to_string(level) + " can't be read: " + levels[level].unreadable);
    if (level < levels.size()) return stored(level);
    throw Error(Errc::unsupported, "there is no level " + std::to_string(wanted.level) + "; the slide has " +
                                       std::to_string(levels.size()) +
                                       (missing.empty() ? "" : ", without those that can't be read: " + missing));
  }
  const Factors factors = wanted_factors(wanted, resolution);
  // Returns how many pixels of a level one pixel of the image covers, across and down.
  const auto of_level = [&](const Level& level) {
    return Factors{factors.x * static_cast<double>(level.width) / static_cast<double>(first.width),
                   factors.y * static_cast<double>(level.height) / static_cast<double>(first.height)};
  };
  const auto distance = [&](const Level& level) {
    const Factors of = of_level(level);
    return std::max(std::abs(of.x - 1), std::abs(of.y - 1));
  };
  std::size_t nearest = 0, finer = levels.size();
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!levels[i].unreadable.empty()) continue;
    if (distance(levels[i]) < distance(levels[nearest])) nearest = i;
    const Factors of = of_level(levels[i]);
    if (of.x >= 1 - rounding && of.y >= 1 - rounding && levels[i].has_whole_pixels) finer = i;
  }
  if (distance(levels[nearest]) <= wanted.tolerance + rounding) return stored(nearest);
  if (finer == levels.size())
    throw Error(Errc::unsupported,
                "its finest pixels are coarser than " + words_of(wanted) + ": " +
                    (resolution.mpp_x != 0 ? short_number(resolution.mpp_x) + " micrometres"
                                           : "a magnification of " + short_number(resolution.magnification)) +
                    "; ask for coarser ones, or for a larger tolerance");
  const Factors of = of_level(levels[finer]);
  ScaleChoice choice = stored(finer);
  choice.scale.width = std::max(std::llround(static_cast<double>(levels[finer].width) / of.x), 1LL);
  choice.scale.height = std::max(std::llround(static_cast<double>(levels[finer].height) / of.y), 1LL);
  choice.scale.resampled = choice.scale.width != levels[finer].width || choice.scale.height != levels[finer].height;
  return choice;
}

}  // namespace penstock::slide
