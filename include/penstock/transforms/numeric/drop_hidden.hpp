// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `drop_hidden`. All are result options.
struct DropHiddenOptions {
  /// Boxes: keeps a box if at least this share of it is visible, 0 to 1.
  double least = 0;
  /// Boxes: keeps a box if its width and its height are at least this many pixels.
  double least_side = 0;
};

/// Drops boxes or key points that image stages have moved out of their picture, together with what belongs to them. Put
/// it after the stages that move them.
///
///     drop_hidden({"boxes", "classes", "masks"}, {.least = 0.3})
///
/// The first of `fields` decides. It is
/// - boxes, f32[N, 5]: x0, y0, x1, y1 and the visible share. A box without an area, or with share 0, is always dropped.
/// - points, f32[N, 3] or f32[N, K, 3]: an instance is dropped if the third number of all its points is 0.
///
/// All `fields` have N rows in their first dimension, and keep the same rows, in the record's order. A record may be
/// left with no row.
/// @throws Error(invalid_argument) if `fields` is empty or names a field twice, or an option is out of bounds.
/// @throws Error(schema_mismatch) when the stage joins a pipeline, if the first field is neither boxes nor points, or
/// fields have different fixed numbers of rows.
PENSTOCK_API Stage drop_hidden(std::vector<std::string> fields, const DropHiddenOptions& options = {});

}  // namespace penstock
