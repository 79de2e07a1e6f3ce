// SPDX-License-Identifier: Apache-2.0
// Changes colours in Reinhard's space on planes of 8-bit values. There is one version per instruction set. All versions
// make the same bits.
#pragma once

#include <cstddef>

#include "color_rows.hpp"

namespace penstock::image {

// The logarithms of the cones become `matrix` x logarithms + `offset`.
struct ReinhardChange {
  float cones_of_rgb[3][3];
  float matrix[3][3];
  float offset[3];
  float rgb_of_cones[3][3];
};

using ReinhardRows = void (*)(const ColorPlanes& planes, std::size_t count, const ReinhardChange& change);
ReinhardRows reinhard_rows();

}  // namespace penstock::image
