// SPDX-License-Identifier: Apache-2.0
// A slide's image as its file describes it.
#pragma once

#include <string>
#include <vector>

#include "file/level.hpp"
#include "file/scale/resolution.hpp"
#include "file/slide_bounds.hpp"

namespace penstock::slide {

struct Pyramid {
  std::vector<Level> levels;  ///< at least one; the first is the finest, level 0
  Resolution resolution;
  SlideBounds bounds;              ///< all 0 if the file specifies none
  std::string missing;             ///< why `levels` may lack levels of the file; empty: no reason is known
  std::string unread_images = {};  ///< which other large images of the file are not read; empty: none is known
};

}  // namespace penstock::slide
