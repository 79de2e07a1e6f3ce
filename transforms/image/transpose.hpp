// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <penstock/extend/image_op.hpp>

namespace penstock::image {

// Number of columns that become rows at a time: few enough that a tile of them stays in the first-level cache.
inline constexpr std::int32_t transpose_band = 16;

// Writes columns [x, x + count) of a contiguous image to `out`, as `count` rows of size.height pixels.
void transpose_columns(const std::uint8_t* image, Size size, int channels, std::int32_t x, std::int32_t count,
                       std::uint8_t* out);

}  // namespace penstock::image
