// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "slide_drawing.hpp"

namespace make_slides {

/// Like `draw_slide`, but many places share a tile. A square of up to 256 different tiles of tissue is repeated over
/// the piece of tissue, and a square of glass around it. Each lower level is still made from the level above. Two
/// places share a tile of a lower level if they share all four tiles that it is made from.
void draw_repeated_slide(const SlideWish& wish, unsigned threads, NewFile& file, std::vector<DrawnLevel>& levels);

}  // namespace make_slides
