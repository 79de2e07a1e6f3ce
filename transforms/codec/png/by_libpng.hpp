// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/extend/image_executor.hpp>

#include "layout.hpp"

namespace penstock::png {

// Decodes `box` of a checked PNG to `out`, its rows one after another. Inflates only the rows down to the end of the
// box; with `verify`, reads and checks the rest of the file, too. If the box has the image's last row, the rest is only
// a few bytes, so it is always checked. @throws Error(corrupt | unsupported | out_of_memory).
void decode_by_libpng(std::span<const std::byte> encoded, const Layout& layout, const Box& box, bool verify,
                      std::uint8_t* out, Scratch& scratch);

}  // namespace penstock::png
