// SPDX-License-Identifier: Apache-2.0
// Images with a margin around them.
#pragma once

#include <cstddef>

#include <penstock/extend/image_stage.hpp>

namespace penstock::image {

// Writes `pixels` and the margin around them as contiguous rows.
void write_with_margin(const Pixels& pixels, const Padding& margin, std::byte* out);

}  // namespace penstock::image
