// SPDX-License-Identifier: Apache-2.0
// Changes stains on planes of 8-bit values. There is one version per instruction set. All versions make the
// same bits as stain_pixel.hpp.
#pragma once

#include <cstddef>

#include <penstock/transforms/image/stain_pixel.hpp>

#include "color_rows.hpp"

namespace penstock::image {

// Changes `count` pixels. Ignores `change.active`.
using StainRows = void (*)(const ColorPlanes& planes, std::size_t count, const StainChange& change,
                           const OpticalDensities& densities);
StainRows stain_rows();

}  // namespace penstock::image
