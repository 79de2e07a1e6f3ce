// SPDX-License-Identifier: Apache-2.0
// Resamples with an antialiased triangle filter, one row of the result at a time, or two if the width is scaled with
// few taps.
//
// For each row of the result, the vertical pass makes one row from rows of the input, and rounds it to 8 bits. Then the
// horizontal pass, if one is needed, reads this row while it is in the first-level cache. Only the inputs and outputs
// that the wanted part needs are touched.
#pragma once

#include <cstdint>

#include <penstock/extend/image_executor.hpp>

#include "kernels.hpp"

namespace penstock::image {

class Resampler {
 public:
  // `pixels` are the pixels of op.reduced_box(). `flip_x` and `flip_y` mirror the result. Tables and buffers are in
  // `scratch`.
  Resampler(const Pixels& pixels, const ImageOp& op, bool flip_x, bool flip_y, Scratch& scratch);

  // Returns row `y` of the rows that are kept. Call it for the rows in order. If `place` is not null, the row may be
  // made there. `place` must then have room for this row and all rows after it, because two rows may be made at once,
  // and up to `row_slack` bytes may be written after them. A row that is not made there is in a buffer, and stays
  // valid until the next call.
  const std::uint8_t* row(std::int32_t y, std::uint8_t* place);

 private:
  const std::uint8_t* blended(std::int32_t y, std::uint8_t* room);
  void make_two(std::int32_t y, std::uint8_t* place);
  void horizontal_wide(const std::uint8_t* row, std::uint8_t* out) const;

  const std::uint8_t* source_;  // column `x_.low` of the first row
  std::ptrdiff_t stride_;
  int channels_;
  std::size_t bytes_;  // bytes of the columns in use, in one row
  bool narrow_y_, narrow_x_, scale_x_;
  Axis y_, x_;
  VerticalRow vertical_ = nullptr;
  WideVerticalRow wide_vertical_ = nullptr;
  HorizontalKernels horizontal_{};
  HorizontalPlan plan_;
  std::uint8_t* between_[2] = {};  // rows after the vertical pass
  std::uint8_t* room_[2] = {};     // finished rows that are not made in place
  std::size_t row_bytes_ = 0;      // bytes of a finished row
  RowPair pair_ = {};              // the two rows that make_two() made last
  std::int32_t* sums_ = nullptr;
  ReverseRow reverse_ = nullptr;
};

}  // namespace penstock::image
