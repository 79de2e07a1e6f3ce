// From coefficients to values: libjpeg-turbo's exact ("islow") inverse DCT, one version per instruction set, all with
// the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "block_decoding.hpp"

namespace penstock::jpeg::baseline {

// Some blocks of one component: block `from[i]` of `blocks` becomes 8 x 8 values at `to[i]` from `values` on.
struct BlocksToValues {
  Block* blocks;
  const std::uint8_t* from;
  std::uint8_t* values;
  const std::ptrdiff_t* to;
  int count;                         // ScanReader::most_blocks at most
  std::ptrdiff_t stride;             // bytes from row to row of the values
  const std::int16_t* quantization;  // [64], in natural order, 64-byte aligned
};

// Sets the blocks to 0. False where a coefficient is so large that libjpeg's version may have other bits: no picture
// has it, and libjpeg is to be asked; the values are then of no meaning.
using InverseDct = bool (*)(const BlocksToValues& job);
InverseDct inverse_dct();

}  // namespace penstock::jpeg::baseline
