// SPDX-License-Identifier: Apache-2.0
// The lines of a CSV file about slides.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "common/tables/slide_lines.hpp"

namespace penstock::slide {

using SlideColumn = common::TableColumn;

struct SlideTable : common::SlideLines {
  /// Micrometres per pixel of each slide, or 0 if the table has no value for the slide. Empty if `Slides::mpp_column`
  /// is not set.
  std::vector<double> mpp;
};

/// Reads `options.labels`. `paths`, `names`: the slides' paths and names. @throws like the constructor of SlideSource,
/// except for slides that are not listed.
SlideTable read_slide_table(const Slides& options, std::span<const std::string> paths,
                            std::span<const std::string> names);

}  // namespace penstock::slide
