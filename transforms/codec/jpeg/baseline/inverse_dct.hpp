// SPDX-License-Identifier: Apache-2.0
// Makes values from coefficients with libjpeg-turbo's exact ("islow") inverse DCT, or with its inverse DCTs of reduced
// size. There is one version per instruction set. All versions make the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block_decoding.hpp"

namespace penstock::jpeg::baseline {

// Blocks of one component that become values. Block `from[i]` of `blocks` becomes `size` x `size` values, which begin
// at `values` + `to[i]`.
struct BlocksToValues {
  Block* blocks;
  const std::uint8_t* from;
  std::uint8_t* values;
  const std::ptrdiff_t* to;
  int count;                         // at most ScanReader::most_blocks
  std::ptrdiff_t stride;             // bytes from one row of values to the next
  const std::int16_t* quantization;  // [64], in natural order, 64-byte aligned
};

// Makes the values, and sets the blocks to 0. Returns false if a coefficient is so large that libjpeg's version may
// make different bits. The values then have no meaning, and libjpeg must decode the image. No picture has such
// coefficients.
using InverseDct = bool (*)(const BlocksToValues& job);
// `size` is 8, 4, 2 or 1. An inverse DCT of size 1 uses only the first coefficient, and sets only this one to 0.
InverseDct inverse_dct(int size = 8);

}  // namespace penstock::jpeg::baseline
