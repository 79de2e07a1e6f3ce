// SPDX-License-Identifier: Apache-2.0
// The header of an image that the baseline decoder takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>

#include <jpeglib.h>

#include "hand_over.hpp"
#include "table_cache.hpp"

namespace penstock::jpeg::baseline {

struct Component {
  int h = 1, v = 1;    // blocks across and down in an MCU
  int size = DCTSIZE;  // values across and down that are made of a block: 8, 4, 2 or 1
  const DcTable* dc = nullptr;
  const AcTable* ac = nullptr;
  alignas(64) std::int16_t quantization[64] = {};  // quantization in natural order
};

// How components become the values of a pixel.
enum class Colors : std::uint8_t { gray, rgb, ycc };

struct Frame {
  int width = 0, height = 0;  // size of the output
  int size = DCTSIZE;  // values that are made of a block of luma, across and down; 8 if the output is not reduced
  int components = 0;
  int h = 1, v = 1;  // the largest `h` and `v` of all components
  int mcus_across = 0, mcus_down = 0;
  int alone_v = 1;                // vertical sampling factor of the only component, as in the header
  unsigned restart_interval = 0;  // MCUs from one restart marker to the next; 0 if there are no markers
  Colors colors = Colors::gray;
  // Pixels per value of the second and third component, across and down, if there are three components.
  int chroma_across = 1, chroma_down = 1;
  Component component[3];
  // A block of an MCU. `x` and `y` are its column and row among the blocks of its component in the MCU.
  struct BlockOf {
    const DcTable* dc;
    const AcTable* ac;
    std::uint8_t component, x, y;
    bool flat;  // only the first coefficient is needed
  };
  int blocks = 0;
  BlockOf block[D_MAX_BLOCKS_IN_MCU];  // the blocks of an MCU, in the order of the scan

  // Size of an MCU in pixels of the output.
  int mcu_width() const noexcept { return size * h; }
  int mcu_height() const noexcept { return size * v; }
  // Returns whether only the first coefficient is needed of some blocks.
  bool has_flat_blocks() const noexcept { return size == 1; }
  // Sets `frame` from the header that libjpeg has read into `info`, or returns the reason why libjpeg must decode the
  // image. REQUIRES: libjpeg has computed the dimensions of the output.
  static std::optional<HandOverReason> read(const jpeg_decompress_struct& info, TableCache& tables, Frame& frame);
};

}  // namespace penstock::jpeg::baseline
