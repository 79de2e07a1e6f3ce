// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "slide_drawing.hpp"

namespace make_slides {

/// `draw_slide` where many places share a tile: a square of some hundred different tiles of tissue is repeated over
/// the piece of tissue, one of glass around it. Levels fit each other as ever: two places share a tile of a lower level
/// where they share all four that it is made of.
void draw_repeated_slide(const SlideWish& wish, unsigned threads, NewFile& file, std::vector<DrawnLevel>& levels);

}  // namespace make_slides
