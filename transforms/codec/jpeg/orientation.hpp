// SPDX-License-Identifier: Apache-2.0
// Reads from Exif data how a camera was held.
#pragma once

#include <span>

#include "markers.hpp"

namespace penstock::jpeg {

// Returns the orientation, 1 to 8, in the first Exif segment of `segments`. Returns 1 (upright) if there is no Exif
// segment, or if that segment has no valid orientation.
int orientation(std::span<const Segment> segments);

}  // namespace penstock::jpeg
