// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/sources/slide.hpp>

#include "console/output.hpp"

namespace penstock::cli {

/// Describes the image that a slide's grid divides, for example "2000x1500 pixels of level 1".
std::string image_text(const SlideInfo& slide);
/// Describes a slide in one line: "slide a: 2000x1500 pixels, tiles of 256x256, JPEG; ...".
std::string slide_text(const SlideInfo& slide);
/// Returns why a slide can't be read. If the fault is in another file than the slide's, for example in a file of
/// regions, names that file.
std::string failure_text(const SlideInfo& slide);
/// Describes a slide as JSON.
Json slide_json(const SlideInfo& slide);

}  // namespace penstock::cli
