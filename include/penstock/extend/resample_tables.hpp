// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace penstock {

/// The inputs and weights of each output along one axis of a resampled image. A kernel computes the weighted sums.
/// Output i is made of the inputs [starts[i], starts[i] + lengths[i]), counted from the box's beginning. Input
/// starts[i] + k has the weight weights[i * stride + k]. No weight is negative. If an axis keeps its size, each output
/// has one input. Offsets are in bytes from the beginning of the ResampleTables. Each is a multiple of 4.
struct AxisTable {
  /// Number of outputs per entry of `spans`.
  static constexpr std::int32_t group = 64;

  std::int32_t count = 0;      ///< number of outputs
  std::int32_t stride = 0;     ///< weights per output, with zeros; even if columns have weights of 16 bits
  std::uint32_t wide = 0;      ///< 1: weights are i32; 0: weights have 16 bits
  std::uint32_t starts = 0;    ///< offset of i32 [count]
  std::uint32_t lengths = 0;   ///< offset of i32 [count]
  std::uint32_t weights = 0;   ///< offset of [count, stride]
  std::uint32_t spans = 0;     ///< offset of i32 [groups, 2]: range [low, high) of the inputs of each group of outputs
  std::uint32_t reserved = 0;  ///< 0
};

/// Tables for a kernel that resamples the pixels of an ImageOp's `box` to the pixels of its `kept`. The margin,
/// transpose, flips and conversion come later. The tables are one block of plain data: this struct, followed by the
/// arrays of both axes. The block's address and size are multiples of 16 bytes.
///
/// The vertical pass comes first. It computes each output of a column from the output's n inputs v with weights w:
///
///     u16, in 1/65536:        (sum(v * w >> 8) + 128 + n / 2) >> 8, which needs no more than 16 bits
///     wide, in 1/4194304:     (sum(v * w) + 2097152) >> 22
///
/// The horizontal pass takes these results as inputs, and computes each output:
///
///     i16, in 1/16384:        (sum(v * w) + 8192) >> 14; zeros fill the room after an output's weights
///     wide, in 1/4194304:     (sum(v * w) + 2097152) >> 22
struct ResampleTables {
  AxisTable rows;     ///< tables of the vertical pass, which comes first
  AxisTable columns;  ///< tables of the horizontal pass
};

}  // namespace penstock
