// SPDX-License-Identifier: Apache-2.0
// Holds the values of an image's components in the two rows of MCUs that were decoded most recently. Pixels are made
// from these values.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/extend/image_executor.hpp>

#include "block_decoding.hpp"
#include "frame.hpp"
#include "inverse_dct.hpp"
#include "pixel_rows.hpp"
#include "scan_reader.hpp"

namespace penstock::jpeg::baseline {

class Planes {
 public:
  // Makes planes for the columns of MCUs [first, end). With `luma_only`, values of the other components are not made.
  // The memory is in `scratch`, which must not be reset or moved as long as the planes are used.
  Planes(const Frame& frame, int first, int end, bool luma_only, Scratch& scratch);

  // Makes the values of `some` MCUs of a row from their blocks. `first` is the column of the first of these MCUs,
  // counted in MCUs from the planes' first column. Sets the blocks to 0.
  void put(int mcu_row, int first, int some, Block* blocks);
  // Returns false if `put` may have made a value that libjpeg would not make; see InverseDct.
  bool usual() const noexcept { return usual_; }

  // Returns the values of row `y` of a component, beginning with the first value of the first column. `row_margin`
  // bytes before and after the values can be read. The row must be in the two rows of MCUs that were put last.
  const std::uint8_t* row(int component, int y) const noexcept {
    const Plane& plane = planes_[component];
    return plane.values + plane.stride * (y & (plane.rows - 1));
  }

 private:
  struct Plane {
    InverseDct inverse_dct = nullptr;
    std::uint8_t* values = nullptr;
    std::ptrdiff_t stride = 0;
    int rows = 0;  // a power of 2
    // The component's i-th block in a `put` is `blocks[from[i]]`. Its values begin `to[i]` bytes after the beginning of
    // the values of the component's first block.
    std::uint8_t from[ScanReader::most_blocks] = {};
    std::ptrdiff_t to[ScanReader::most_blocks] = {};
  };

  const Frame& frame_;
  int components_;  // number of components whose values are made
  Plane planes_[3];
  bool usual_ = true;
};

}  // namespace penstock::jpeg::baseline
