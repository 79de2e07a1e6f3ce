#pragma once

#include <string>

#include <penstock/sources/slide.hpp>

#include "console/output.hpp"

namespace penstock::cli {

/// The image that a slide's grid lies on: "2000x1500 pixels of level 1".
std::string image_text(const SlideInfo& slide);
/// What is known of a slide, in a line: "slide a: 2000x1500 pixels, tiles of 256x256, JPEG; ...".
std::string slide_text(const SlideInfo& slide);
/// Why it can't be read, with the file where that is another than the slide's: one of regions, or a list.
std::string failure_text(const SlideInfo& slide);
/// What is said of a slide, for programs.
Json slide_json(const SlideInfo& slide);

}  // namespace penstock::cli
