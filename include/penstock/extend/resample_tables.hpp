#pragma once

#include <cstdint>

namespace penstock {

/// Which inputs make the outputs of one axis of an image that is resampled, and how much of each, for a kernel that
/// does the sums. Output i is made of the inputs [starts[i], starts[i] + lengths[i]), counted from the box's beginning;
/// input starts[i] + k has the weight weights[i * stride + k], and no weight is negative. Where an axis keeps its size
/// each output has one input.
/// The arrays lie where the offsets say, in bytes from the beginning of the ResampleTables, each at a multiple of 4.
struct AxisTable {
  /// Outputs for which `spans` has one entry.
  static constexpr std::int32_t group = 64;

  std::int32_t count = 0;      ///< outputs
  std::int32_t stride = 0;     ///< room for weights of one output; even where those of columns have 16 bits
  std::uint32_t wide = 0;      ///< 1: weights are i32; else they have 16 bits
  std::uint32_t starts = 0;    ///< offset of i32 [count]
  std::uint32_t lengths = 0;   ///< offset of i32 [count]
  std::uint32_t weights = 0;   ///< offset of [count, stride]
  std::uint32_t spans = 0;     ///< offset of i32 [groups, 2]: all inputs of each group of outputs, [low, high)
  std::uint32_t reserved = 0;  ///< 0
};

/// What an ImageOp that is resampled asks of a kernel: from the pixels of its box to those of its window, as they are
/// before a margin, a transpose, flips and a conversion. A block of memory that begins with this struct; the arrays of
/// both axes follow it. Plain, at a multiple of 16 bytes, as many bytes as a multiple of 16.
///
/// Rows first, column by column of the box, of n inputs v with weights w:
///
///     16 bits, u16 of 65536:  (sum(v * w >> 8) + 128 + n / 2) >> 8, which needs no more than 16 bits
///     wide, of 4194304:       (sum(v * w) + 2097152) >> 22
///
/// Then columns, of those results:
///
///     16 bits, i16 of 16384:  (sum(v * w) + 8192) >> 14; zeros fill the room behind the weights
///     wide, of 4194304:       (sum(v * w) + 2097152) >> 22
struct ResampleTables {
  AxisTable rows;     ///< tables of the vertical pass, which is the first
  AxisTable columns;  ///< tables of the horizontal pass
};

}  // namespace penstock
