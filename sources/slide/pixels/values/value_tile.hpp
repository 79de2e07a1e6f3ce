// SPDX-License-Identifier: Apache-2.0
// Decodes tiles that hold the values of pixels, compressed without loss or not at all.
#pragma once

#include <cstddef>
#include <span>

#include <penstock/extend/image_op.hpp>

#include "file/level.hpp"
#include "pixels/values/decompressor.hpp"

namespace penstock::slide {

/// Returns how many bytes of memory `decode_value_tile` needs to write a box at that stride.
std::size_t value_tile_memory(const Level& level, const Box& box, std::ptrdiff_t stride) noexcept;

/// Decodes a tile. Writes the pixels of `box`, which is inside of the tile, to `into`, whose rows begin `stride` bytes
/// after each other. `stored`: the bytes of each plane, `level.values.planes_read()` of them. They
/// are only the rows of `box` if the level is uncompressed. With `verify`, decodes compressed tiles to their ends.
/// @throws Error(corrupt | unsupported | out_of_memory).
void decode_value_tile(const Level& level, std::span<const std::span<std::byte>> stored, Decompressor& decompressor,
                       const Box& box, bool verify, std::byte* into, std::ptrdiff_t stride, std::byte* memory);

}  // namespace penstock::slide
