// SPDX-License-Identifier: Apache-2.0
// The inner loops of image operations. There is one version per instruction set. All versions make the same bits.
// Each getter picks the version for this CPU. Call it once per image.
#pragma once

#include <cstddef>
#include <cstdint>

#include "axis.hpp"

namespace penstock::image {

// Number of bytes that may be read and written after the end of a row buffer.
inline constexpr std::size_t row_slack = 256;

// out[j] = (sum over k of (rows[k][j] * weight[k] >> 8) + 128 + taps / 2) >> 8, for 1 to narrow_taps rows that
// begin `stride` bytes after each other.
using VerticalRow = void (*)(const std::uint8_t* first, std::ptrdiff_t stride, const std::uint16_t* weights, int taps,
                             std::uint8_t* out, std::size_t bytes);
VerticalRow vertical_row();

// out[j] = (2^21 + sum over k of rows[k][j] * weight[k]) >> 22. `sum` is working memory of `bytes` elements.
using WideVerticalRow = void (*)(const std::uint8_t* first, std::ptrdiff_t stride, const std::int32_t* weights,
                                 int taps, std::int32_t* sum, std::uint8_t* out, std::size_t bytes);
WideVerticalRow wide_vertical_row();

// The horizontal pass: out[i][c] = (sum over k of row[start[i] + k][c] * weight[i][k] + 8192) >> 14, for two rows.
struct HorizontalPlan {
  const Axis* axis = nullptr;
  int channels = 0;
  std::byte* tables = nullptr;  // 64-byte aligned, in the layout of the kernel that made them
  bool flat = false;            // true if the kernel of horizontal_flat-inl.hpp made the tables
};
// All four rows have row_slack bytes after their end, except `out[0]` if `out[1]` follows it directly. In that case,
// the second row overwrites bytes that are written beyond the first row's end.
struct RowPair {
  const std::uint8_t* from[2];
  std::uint8_t* out[2];
};
struct HorizontalKernels {
  std::size_t (*table_bytes)(const Axis& axis, int channels);
  void (*prepare)(HorizontalPlan& plan);
  void (*run)(const HorizontalPlan& plan, const RowPair& rows);
};
HorizontalKernels horizontal();

// Mirrors a row of pixels. `out` must not overlap `row`.
using ReverseRow = void (*)(const std::uint8_t* row, std::uint8_t* out, std::size_t width, int channels);
ReverseRow reverse_row();

// out[c][x] = row[x][c]; planes are `plane` elements apart.
using SplitRow = void (*)(const std::uint8_t* row, std::size_t width, int channels, std::uint8_t* out,
                          std::size_t plane);
SplitRow split_row();

// out[j] = row[j] * scale[j % period] + bias[j % period], rounded after each operation. 1 <= period <= 4.
using FloatRow = void (*)(const std::uint8_t* row, std::size_t count, int period, const float* scale, const float* bias,
                          float* out);
FloatRow float_row();

}  // namespace penstock::image
