// SPDX-License-Identifier: Apache-2.0
// Describes what was drawn, for people and for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slide_directories.hpp"
#include "slide_drawing.hpp"

namespace make_slides {

struct DrawnSlide {
  std::string path;
  SlideWish wish = {};
  SlideLayout layout = {};
  std::vector<DrawnLevel> levels = {};
  std::uint64_t bytes = 0;
  double seconds = 0;
};

/// Returns a line for each damaged tile, and then a line for the slide.
std::string summary_text(const DrawnSlide& drawn);
/// Returns the same facts as JSON.
std::string summary_json(const DrawnSlide& drawn);

}  // namespace make_slides
