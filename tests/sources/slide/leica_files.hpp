// SPDX-License-Identifier: Apache-2.0
// Slides as Leica writes them: a scanned part that lies somewhere on the glass. OpenSlide's level 0 is all of the
// glass, and its bounds are the part.
#pragma once

#include <string>

#include "sources/slide/slide_files.hpp"

namespace penstock_test {

// Pixels of level 0.
struct LeicaGlass {
  int width = 0, height = 0;
  int left = 0, top = 0;  // where the part begins
};

// One micrometre a pixel. `part` says what is scanned, of level 0 alone.
WrittenSlide write_leica(const std::string& path, const LeicaGlass& glass, SlideForm part);

}  // namespace penstock_test
