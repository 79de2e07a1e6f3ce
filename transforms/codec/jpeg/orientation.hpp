// SPDX-License-Identifier: Apache-2.0
// Reads from Exif data how a camera was held.
#pragma once

#include <span>

#include <penstock/extend/image_op.hpp>

#include "markers.hpp"

namespace penstock::jpeg {

// Returns 1 to 8 from the first Exif segment of a file's segments; 1 (upright) if there is none, or it is invalid.
int orientation(std::span<const Segment> segments);

// Adds the turns and flips that set the image upright.
void set_upright(ImageOp& op, int orientation);

}  // namespace penstock::jpeg
