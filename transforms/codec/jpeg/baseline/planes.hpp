// The values of an image's components, for the two rows of MCUs that pixels are made of at a time.
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
  // Planes of the columns of MCUs from `first` to before `end`. `luma_only`: no values of the other components are
  // wanted. `scratch` keeps the memory: it must stay as it is.
  Planes(const Frame& frame, int first, int end, bool luma_only, Scratch& scratch);

  // Values of `some` MCUs of a row, from the `first`-th of the columns on, out of their blocks, which become 0.
  void put(int mcu_row, int first, int some, Block* blocks);
  // False where a value that was put is none of libjpeg's: see InverseDct.
  bool usual() const noexcept { return usual_; }

  // The values of row `y` of a component, from the first column's first one on. `row_margin` bytes before and after
  // them can be read. Rows of the last two rows of MCUs are there.
  const std::uint8_t* row(int component, int y) const noexcept {
    const Plane& plane = planes_[component];
    return plane.values + plane.stride * (y & (plane.rows - 1));
  }

 private:
  struct Plane {
    std::uint8_t* values = nullptr;
    std::ptrdiff_t stride = 0;
    int rows = 0;  // a power of 2
    // Which blocks of an MCU may be put together, and where they go from the first one's place on.
    std::uint8_t from[ScanReader::most_blocks] = {};
    std::ptrdiff_t to[ScanReader::most_blocks] = {};
  };

  const Frame& frame_;
  int components_;  // whose values are wanted
  InverseDct inverse_dct_;
  Plane planes_[3];
  bool usual_ = true;
};

}  // namespace penstock::jpeg::baseline
