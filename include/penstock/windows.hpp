// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/any_source.hpp>

namespace penstock {

/// Settings of `windows`.
struct WindowOptions {
  /// Result option: number of rows of a window, at least 1. Required.
  std::uint64_t length = 0;
  /// Result option: rows from the beginning of one window to the beginning of the next, at least 1. Default: 1.
  std::uint64_t stride = 1;
  /// Result option: name of a field whose value says which series a row belongs to (a recording, a patient). No window
  /// crosses a change of this value. Default (empty): all rows are one series.
  std::string group_by = {};
};
/// Makes records of pieces of long series. Without `group_by`, record i has the rows [i * stride, i * stride + length)
/// of the source. Each field is stacked along a new first dimension: a field of shape [C] becomes a field of shape
/// [length, C].
///
///     from(windows(Hdf5{.path = "ecg.h5"}, {.length = 2'048, .stride = 512, .group_by = "patient"}))
///
/// With `group_by`, consecutive rows with the same value of that field are a series. The first window of a series
/// begins at the series' first row, and each further window begins `stride` rows later. A series shorter than `length`
/// has no window. Rows after the last window of a series are in no window. `Pipeline::plan()` counts these series and
/// rows.
///
/// The field of `group_by` may have any shape; its values are compared byte for byte. If its shape varies (text), the
/// field is not stacked: a window has the value once, because all its rows have the same value. This function gets the
/// values from the source's `labels`. If the source does not have these labels, it reads each record once. The result
/// needs 16 bytes of memory for each series that has a window.
///
/// A row is read once for each window that it is in, straight into the window's memory. Windows share the source's
/// blocks: a chunk is not decoded again while it is in the loader's memory for blocks (`max_block_bytes`). A window
/// belongs to the group of its first row, and for `shuffle({.blocks = true})` to the block of its first row. If the
/// source has no groups and no keys, the values of `group_by` are the windows' groups. If the source has keys, a window
/// has the key of its first row. Windows that overlap share rows, even if a `split` puts them into different parts. So
/// use separate sources for training and validation.
///
/// The result is immutable; any thread may use it. An error of a row names the row; `Error::index` is the window's
/// index.
/// @throws Error(invalid_argument) if `length` or `stride` is 0, or if the source is a pipeline with stages.
/// @throws Error(schema_mismatch) if the source lacks the field `group_by`, if any other field has a varying shape, or
/// if a field that is stacked has 8 dimensions.
/// @throws Error(limit_exceeded) if `length` is above 2^60, or a field of a window would have more than 2^60 elements.
/// @throws what reading `group_by` throws.
PENSTOCK_API AnySource windows(AnySource source, WindowOptions options);

}  // namespace penstock
