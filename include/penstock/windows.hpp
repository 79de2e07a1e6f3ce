#pragma once

#include <cstdint>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/any_source.hpp>

namespace penstock {

/// Settings of `windows`.
struct WindowOptions {
  std::uint64_t length = 0;   ///< result option: rows of a window, at least 1; must be said
  std::uint64_t stride = 1;   ///< result option: rows from one window's beginning to the next one's, at least 1
  std::string group_by = {};  ///< result option: a field that says which series a row is of (a recording, a patient);
                              ///< no window goes across a change of its value. Empty: all rows are one series
};
/// Pieces of long series as records: record i is the rows [i * stride, i * stride + length) of the source, each field
/// stacked on a new first dimension: a field of shape [C] becomes one of [length, C].
///
///     from(windows(Hdf5{.path = "ecg.h5"}, {.length = 2'048, .stride = 512, .group_by = "patient"}))
///
/// With `group_by` each run of rows in which that field keeps its value is a series of its own: windows begin with its
/// first row, and so on by the stride. A series shorter than `length` has no window; rows after a series' last window
/// are in none. `Pipeline::plan()` counts both. The field may be of any fixed shape, compared byte for byte; or of a
/// varying one (text), which then stands in a window once, as it is the same in all rows. Its values are got when this
/// is made: by the source's `labels`, else each record is read once. 16 bytes of memory for each series with a window.
///
/// Every row of a window is read for each window it is in, straight into the window's memory. Blocks of the source are
/// blocks of the windows (a chunk is decoded once while it stays in the loader's `max_block_bytes`), and a window
/// belongs to that of its first row for `shuffle({.blocks = true})`; so it does to that row's group. Of a source that
/// knows no groups and has no keys, the values of `group_by` are the windows' groups. Keys are those of the windows'
/// first rows, where the source has keys. Windows that overlap share rows, also across the parts of a
/// `split`: give training and validation sources of their own. Immutable; any thread. Errors of a row name it,
/// `Error::index` is the window's.
/// @throws Error(invalid_argument) for a length or stride of 0; Error(schema_mismatch) where `group_by` is no field,
/// for another field of a varying shape, and for one of 8 dimensions; Error(limit_exceeded) for windows of more than
/// 2^60 elements; and whatever reading `group_by` throws.
PENSTOCK_API AnySource windows(AnySource source, WindowOptions options);

}  // namespace penstock
