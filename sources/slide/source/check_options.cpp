// SPDX-License-Identifier: Apache-2.0
#include "source/check_options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "file/errors.hpp"
#include "file/scale/resolution.hpp"

namespace penstock::slide {

namespace {

[[noreturn]] void refuse_options(const std::string& why) {
  throw Error(Errc::invalid_argument, why).with_source(source_name);
}

void check_tissue(const SlideTissue& tissue) {
  const auto check = [](bool good, const char* what, double value, const char* possible) {
    if (!good)
      refuse_options(std::string("`tissue.") + what + "` is " + std::to_string(value) + "; " + possible +
                     " are possible");
  };
  constexpr double least_mpp = 1, most_mpp = 200, most_closing = 10'000, most_threshold = 254;
  check(tissue.least >= 0 && tissue.least <= 1, "least", tissue.least, "0 to 1");
  check(tissue.mpp >= least_mpp && tissue.mpp <= most_mpp, "mpp", tissue.mpp, "1 to 200");
  check(tissue.threshold >= 0 && tissue.threshold <= most_threshold, "threshold", tissue.threshold, "0 to 254");
  check(tissue.closing >= 0 && tissue.closing <= most_closing, "closing", tissue.closing, "0 to 10,000");
  check(tissue.least_area >= 0 && std::isfinite(tissue.least_area), "least_area", tissue.least_area, "0 and more");
}

void check_regions(const SlideRegions& regions) {
  if (regions.folder.empty()) {
    if (!regions.include.empty() || !regions.exclude.empty() || !regions.field.empty())
      refuse_options("`regions` names classes, or a field, but no `folder` with files of regions");
    return;
  }
  if (regions.include.empty() && regions.exclude.empty() && regions.field.empty())
    refuse_options("`regions.folder` is given, but nothing is asked of it: give `include`, `exclude` or `field`");
  constexpr double least_mpp = 0.05, most_mpp = 200;
  if (!(regions.mpp >= least_mpp && regions.mpp <= most_mpp))
    refuse_options("`regions.mpp` is " + std::to_string(regions.mpp) + "; 0.05 to 200 are possible");
  if (!(regions.least >= 0 && regions.least <= 1))
    refuse_options("`regions.least` is " + std::to_string(regions.least) + "; 0 to 1 are possible");
  for (const std::string& name : regions.include)
    if (std::ranges::find(regions.exclude, name) != regions.exclude.end())
      refuse_options("`regions` has the class \"" + printable(name) + "\" in `include` and in `exclude`");
  if (takes_all(regions.exclude) && !regions.include.empty())
    refuse_options("`regions.exclude` is every class, so none is left to `include`");
}

void check_stain(const SlideStain& stain) {
  constexpr std::int32_t most_patches = 4096;
  if (stain.patches < 1 || stain.patches > most_patches)
    refuse_options("`stain.patches` is " + std::to_string(stain.patches) + "; 1 to 4096 are possible");
  if (stain.method && *stain.method != StainMethod::macenko && *stain.method != StainMethod::reinhard)
    refuse_options("`stain.method` is none that there is");
  if (stain.field.empty()) refuse_options("`stain.field` is empty; records need a name for it");
}

}  // namespace

bool takes_all(const std::vector<std::string>& classes) { return std::ranges::find(classes, "*") != classes.end(); }

void check_options(const Slides& options) {
  constexpr std::int32_t most = 65536;
  if (options.files.empty() == options.paths.empty()) refuse_options("give either `files` or `paths`");
  if (options.size < 1 || options.size > most)
    refuse_options("`size` is " + std::to_string(options.size) + " pixels; 1 to 65536 are possible");
  constexpr std::int64_t most_pixels = std::numeric_limits<std::int32_t>::max();
  if (options.left < 0 || options.top < 0 || options.left > most_pixels || options.top > most_pixels)
    refuse_options("`left` and `top` are pixels of the slide: 0 to 2,147,483,647 are possible");
  if (!options.coords.empty() && (options.left != 0 || options.top != 0))
    refuse_options("`coords` say where places are, so there is no grid that begins at `left` and `top`");
  if (options.stride < 0) refuse_options("`stride` is negative");
  if (options.overlap < 0 || options.overlap >= options.size)
    refuse_options("`overlap` is " + std::to_string(options.overlap) + " pixels; it must be less than `size`, " +
                   std::to_string(options.size));
  if (options.stride != 0 && options.overlap != 0) refuse_options("give either `stride` or `overlap`");
  check_tissue(options.tissue);
  check_regions(options.regions);
  check_stain(options.stain);
  if (options.max_open_files == 0) refuse_options("`max_open_files` is 0: one at least must be open");
  if (options.labels.empty() &&
      !(options.slide_column.empty() && options.columns.empty() && options.group.empty() && options.mpp_column.empty()))
    refuse_options("`slide_column`, `columns`, `group` and `mpp_column` are columns of `labels`, which is not given");
  if ((options.level != 0) + (options.mpp != 0) + (options.magnification != 0) > 1)
    refuse_options("give one of `level`, `mpp` and `magnification`");
  if (options.level < 0) refuse_options("`level` is negative; 0 is the finest");
  constexpr double least_magnification = 0.5, most_magnification = 1000, most_tolerance = 0.5;
  if (options.mpp != 0 && !plausible_mpp(options.mpp, options.mpp))
    refuse_options("`mpp` is " + std::to_string(options.mpp) + " micrometres a pixel; 0.05 to 20 are possible");
  if (options.assumed_mpp != 0 && !plausible_mpp(options.assumed_mpp, options.assumed_mpp))
    refuse_options("`assumed_mpp` is " + std::to_string(options.assumed_mpp) +
                   " micrometres a pixel; 0.05 to 20 are possible");
  if (options.magnification != 0 &&
      !(options.magnification >= least_magnification && options.magnification <= most_magnification))
    refuse_options("`magnification` is " + std::to_string(options.magnification) + "; 0.5 to 1000 are possible");
  if (!(options.mpp_tolerance >= 0 && options.mpp_tolerance <= most_tolerance))
    refuse_options("`mpp_tolerance` is " + std::to_string(options.mpp_tolerance) + ", a share; 0 to 0.5 are possible");
}

}  // namespace penstock::slide
