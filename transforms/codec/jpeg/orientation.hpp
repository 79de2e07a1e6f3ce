// How a camera was held, as Exif tells it.
#pragma once

#include <span>

#include <penstock/extend/image_op.hpp>

#include "markers.hpp"

namespace penstock::jpeg {

// 1 to 8, from the first Exif segment of a file's; 1, upright, where there is none, or no sense in it.
int orientation(std::span<const Segment> segments);

// Adds the turns and flips that set the image upright.
void set_upright(ImageOp& op, int orientation);

}  // namespace penstock::jpeg
