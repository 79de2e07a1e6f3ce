// SPDX-License-Identifier: Apache-2.0
#include "coords_attributes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace penstock::coords {

namespace {

// Returns TRIDENT's magnification for pixels of `mpp` micrometres, or 0 if TRIDENT has none for pixels that large.
std::int64_t usual_magnification(double mpp) {
  struct Step {
    double below;
    std::int64_t magnification;
  };
  constexpr std::array<Step, 6> steps{{{0.16, 80}, {0.2, 60}, {0.3, 40}, {0.6, 20}, {1.2, 10}, {2.4, 5}}};
  for (const Step& step : steps)
    if (mpp < step.below) return step.magnification;
  return 0;
}

// Returns how many pixels of level 0 one pixel of a record is wide.
double pixels_of_level_0(const SlideInfo& slide) {
  return static_cast<double>(slide.width) / static_cast<double>(slide.image_width);
}

}  // namespace

ClamPatch clam_patch(const SlideInfo& slide, const Slides& options) {
  if (!slide.resampled) return {options.size, static_cast<std::int64_t>(slide.level)};
  return {std::max<std::int64_t>(1, std::llround(options.size * pixels_of_level_0(slide))), 0};
}

std::optional<TridentPatch> trident_patch(const SlideInfo& slide, const Slides& options, std::string& why) {
  std::int64_t level_0 = std::llround(slide.magnification);
  if (level_0 < 1 && slide.mpp_x != 0) level_0 = usual_magnification((slide.mpp_x + slide.mpp_y) / 2);
  if (level_0 < 1) {
    why = "it doesn't say its magnification, nor how large a pixel is";
    return std::nullopt;
  }
  const double scale = pixels_of_level_0(slide), exact = static_cast<double>(level_0) / scale;
  const std::int64_t target = std::max<std::int64_t>(1, std::llround(exact));
  const double extent = options.size * scale;
  TridentPatch patch{options.size, options.size * level_0 / target,
                     std::max<std::int64_t>(0, options.size - options.stride), level_0, target};
  constexpr double tolerance = 0.02;
  if (std::abs(static_cast<double>(patch.size_at_level_0) - extent) > std::max(1.0, tolerance * extent)) {
    const std::int64_t tenths = std::llround(exact * 10);
    why = "its records have no whole magnification, but " + std::to_string(tenths / 10) + "." +
          std::to_string(tenths % 10);
    return std::nullopt;
  }
  return patch;
}

std::vector<FeatureAttribute> clam_attributes(const SlideInfo& slide, const ClamPatch& patch,
                                              const std::string& folder) {
  const SlideLevel& level = slide.levels[static_cast<std::size_t>(patch.level)];
  const std::vector<std::int64_t> size{level.width, level.height};
  return {{"patch_size", patch.size},
          {"patch_level", patch.level},
          {"downsample", std::vector<double>{static_cast<double>(slide.width) / static_cast<double>(level.width),
                                             static_cast<double>(slide.height) / static_cast<double>(level.height)}},
          {"downsampled_level_dim", size},
          {"level_dim", size},
          {"name", slide.name},
          {"save_path", folder}};
}

std::vector<FeatureAttribute> trident_attributes(const SlideInfo& slide, const TridentPatch& patch,
                                                 const std::string& folder) {
  return {{"patch_size", patch.size},
          {"patch_size_level0", patch.size_at_level_0},
          {"level0_magnification", patch.level_0},
          {"target_magnification", patch.target},
          {"overlap", patch.overlap},
          {"name", slide.name},
          {"savetodir", folder},
          {"level0_width", slide.width},
          {"level0_height", slide.height}};
}

}  // namespace penstock::coords
