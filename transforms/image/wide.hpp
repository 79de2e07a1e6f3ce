// SPDX-License-Identifier: Apache-2.0
// Operations on images of 16 bits per value.
#pragma once

#include <cstddef>

#include <penstock/extend/image_stage.hpp>

namespace penstock::image {

// Executes an operation without a margin, pixel by pixel. Resamples by nearest.
void run_wide(const Pixels& pixels, const ImageOp& op, std::byte* out);

}  // namespace penstock::image
