// What a slide's file says of its image.
#pragma once

#include <string>
#include <vector>

#include "file/level.hpp"
#include "file/scale/resolution.hpp"
#include "file/slide_bounds.hpp"

namespace penstock::slide {

struct Pyramid {
  std::vector<Level> levels;  ///< levels from the finest, which is level 0; at least one
  Resolution resolution;
  SlideBounds bounds;              ///< all 0 where nothing is told
  std::string missing;             ///< why levels that the file may have are not among them; empty: none is known of
  std::string unread_images = {};  ///< which images, about as large, are not read; empty: none is known of
};

}  // namespace penstock::slide
