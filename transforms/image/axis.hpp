// SPDX-License-Identifier: Apache-2.0
// The input values that make each output value along one axis, and their weights.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/extend/image_executor.hpp>

namespace penstock::image {

// With at most this number of taps, sums of 16-bit products are within 1/100 of a level of the exact result. With more
// taps, weights have 32 bits.
inline constexpr int narrow_taps = 32;

// How weights are stored. The weights of one output sum exactly to `one`, with one exception.
enum class Weights {
  vertical,    // uint16_t, one = 65536; exception: a single tap has 65535
  horizontal,  // int16_t, one = 16384, the same even number of taps for every output, padded with zeros
  wide,        // int32_t, one = 4194304
};

struct AxisRequest {
  std::int32_t in = 0, out = 0;       // values along the whole axis
  std::int32_t first = 0, count = 0;  // the outputs that are wanted
  bool mirror = false;                // input i is value `in` - 1 - i of the axis
  bool reverse = false;               // the wanted outputs are listed last to first
  SampledRange sampled;               // the part of the axis that is resampled

  // Whether each output is one input.
  bool is_identity() const noexcept { return sampled.begin == 0 && sampled.length == out; }
};

// The axes of `op`: from top to bottom, and from left to right.
inline AxisRequest rows_of(const ImageOp& op, bool reverse) {
  return {op.reduced_box().height, op.resized.height, op.kept.top, op.kept.height, op.mirror_y, reverse,
          op.sampled_rows()};
}
inline AxisRequest columns_of(const ImageOp& op, bool reverse) {
  return {op.reduced_box().width, op.resized.width, op.kept.left, op.kept.width, op.mirror_x, reverse,
          op.sampled_columns()};
}

struct Axis {
  std::int32_t count = 0;                // number of outputs
  std::int32_t taps = 0;                 // number of weights for which each output has room
  std::int32_t low = 0, high = 0;        // inputs used by any output: [low, high)
  const std::int32_t* start = nullptr;   // first input of each output
  const std::int32_t* length = nullptr;  // number of inputs of each output, without padding
  const void* weights = nullptr;         // [count][taps]

  template <class T>
  const T* weights_of(std::int32_t i) const {
    return static_cast<const T*>(weights) + static_cast<std::ptrdiff_t>(i) * taps;
  }
};

// Returns an upper bound of the number of taps of one output.
int axis_taps(const AxisRequest& request);

// Makes the tables of a triangle filter with half-width max(1, scale), where scale = sampled.length / out. For output
// i, the filter is centred at sampled.begin + (i + 0.5) * scale, cut at the edges and normalised. The tables are in
// `scratch`.
Axis make_axis(const AxisRequest& request, Weights kind, Scratch& scratch);

}  // namespace penstock::image
