// SPDX-License-Identifier: Apache-2.0
// Resamples one row of the result at a time. Each pixel of the result is the nearest pixel of the input, unchanged.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/extend/image_executor.hpp>

namespace penstock::image {

// Returns floor((i + 0.5) * in / out). Uses integers, because floats could be rounded below an exact whole number.
std::int32_t below_centre(std::int64_t i, std::int64_t in, std::int64_t out);

class NearestResampler {
 public:
  // `pixels` are the pixels of op.box. `flip_x` and `flip_y` mirror the result. Tables are in `scratch`.
  NearestResampler(const Pixels& pixels, const ImageOp& op, bool flip_x, bool flip_y, Scratch& scratch);

  // Writes row y of the kept rows into `out`.
  void row(std::int32_t y, std::uint8_t* out) const;

 private:
  Pixels pixels_;
  std::int32_t width_;
  const std::ptrdiff_t* rows_;     // input row of each output row
  const std::ptrdiff_t* columns_;  // byte of the input row at which the input of each output pixel begins
};

}  // namespace penstock::image
