// What a CSV file says of slides.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <penstock/sources/slide.hpp>

#include "common/tables/slide_lines.hpp"

namespace penstock::slide {

using SlideColumn = common::TableColumn;

struct SlideTable : common::SlideLines {
  /// Micrometres a pixel, for each slide, where `Slides::mpp_column` is given; 0: the line says none.
  std::vector<double> mpp;
};

/// Reads `options.labels`. `paths` and `names` are those of the slides.
/// @throws as the constructor of SlideSource, but for slides that are not listed.
SlideTable read_slide_table(const Slides& options, std::span<const std::string> paths,
                            std::span<const std::string> names);

}  // namespace penstock::slide
