// Tiles that are JPEG 2000 codestreams, decoded by OpenJPEG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/extend/image_op.hpp>

#include "common/heap_end.hpp"

namespace penstock::slide {

/// What the file says of a tile.
struct Jpeg2000Facts {
  std::int32_t width = 0, height = 0;
  bool rgb = false;  ///< what the values of a pixel are, else YCbCr
};

/// Writes the pixels of `box`, inside the tile, to `into`, whose rows begin `stride` bytes after each other. `encoded`
/// is a codestream, or a JP2 file with one in it. Of a tile with fewer samples of colour than of light, each is
/// repeated. With `verify` all of it is decoded. `heap_end` is that of the thread. @throws Error(corrupt | unsupported
/// | out_of_memory).
void decode_jpeg2000(std::span<const std::byte> encoded, const Jpeg2000Facts& facts, const Box& box, bool verify,
                     std::byte* into, std::ptrdiff_t stride, common::HeapEnd& heap_end);

}  // namespace penstock::slide
