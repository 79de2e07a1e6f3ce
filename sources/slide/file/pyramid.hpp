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
  std::vector<Level> levels;  ///< levels, the finest first, which is level 0; at least one
  Resolution resolution;
  SlideBounds bounds;              ///< all 0 if the file specifies none
  std::string missing;             ///< why some levels of the file may be missing here; empty: none is known to be
  std::string unread_images = {};  ///< which images of similar size are not read; empty: none is known
};

}  // namespace penstock::slide
