// SPDX-License-Identifier: Apache-2.0
// Decodes tiles that are JPEG 2000 codestreams, with OpenJPEG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/extend/image_op.hpp>

#include "common/heap_trim_guard.hpp"

namespace penstock::slide {

/// What the slide's file says about a tile.
struct Jpeg2000Facts {
  std::int32_t width = 0, height = 0;
  bool rgb = false;  ///< the values of a pixel are RGB; otherwise YCbCr
};

/// Decodes a tile. Writes the pixels of `box`, which is inside of the tile, to `into`, whose rows begin `stride` bytes
/// after each other. `encoded`: a codestream, or a JP2 file with one. If there are fewer samples of colour than pixels,
/// repeats samples. With `verify`, decodes the whole tile. `heap_end` must belong to the calling thread. @throws
/// Error(corrupt | unsupported | out_of_memory).
void decode_jpeg2000(std::span<const std::byte> encoded, const Jpeg2000Facts& facts, const Box& box, bool verify,
                     std::byte* into, std::ptrdiff_t stride, common::HeapTrimGuard& heap_end);

}  // namespace penstock::slide
