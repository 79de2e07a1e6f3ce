// SPDX-License-Identifier: Apache-2.0
// How slides are cut into tiles, from the command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <penstock/sources/slide.hpp>

namespace penstock::cli {

struct SlideFlags {
  std::string labels, slide_column, mpp_column, edges = "drop", tissue = "everywhere";
  std::vector<std::string> columns;
  SlideTissue rules;
  SlideRegions regions;
  std::string region_origin;
  std::string stain = "none";
  std::int32_t stain_patches = SlideStain().patches;
  std::string from_coords, index;
  std::int32_t level = 0, size = 256, stride = 0, overlap = 0;
  double mpp = 0, magnification = 0, tolerance = Slides().mpp_tolerance, assumed_mpp = 0;
  bool leave_out_unlisted = false, regions_may_miss = false, coords_of_any_size = false;
  std::vector<const CLI::Option*> options;  ///< set by add_slide_options and add_index_option

  /// Returns the first of `options` that was given, like "--size". Returns an empty text if no option was given.
  std::string first_given() const;
};

/// Adds the options that set the members of `SlideFlags`, except --index. If `group` is not empty, --help shows the
/// options in that group.
void add_slide_options(CLI::App& command, SlideFlags& flags, const std::string& group = "");

/// Adds --index.
void add_index_option(CLI::App& command, SlideFlags& flags, const std::string& group = "");

/// Returns the slides at `paths`, cut as the flags require. @throws UsageError for options that contradict each other;
/// penstock::Error.
Slides slides_of(const SlideFlags& flags, std::vector<std::string> paths);

/// Adds --picture-side.
CLI::Option& add_picture_side_option(CLI::App& command, std::int32_t& side);

}  // namespace penstock::cli
