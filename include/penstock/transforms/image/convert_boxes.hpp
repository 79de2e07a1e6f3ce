// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/detail/export.hpp>
#include <penstock/stages/box_format.hpp>
#include <penstock/stages/image_fields.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `convert_boxes`. All are result options.
struct ConvertBoxesOptions {
  BoxFormat from = BoxFormat::xyxy;  ///< format of the field's boxes
  BoxFormat to = BoxFormat::xyxy;    ///< format of the result's boxes
  /// Whether boxes of five numbers keep their visible share. If false, they become boxes of four numbers.
  bool keeps_share = true;
};

/// Converts boxes, f32[..., 4] or f32[..., 5], to another format. Computes in binary64, and rounds once.
///
///     convert_boxes("boxes", {.from = BoxFormat::xywh})
///     convert_boxes({"image", boxes("boxes")}, {.from = BoxFormat::cxcywh_shares})
///
/// Between pixels and shares the image is needed: name it first, and the boxes with `boxes`. The shares are of the
/// image's size at this stage. Otherwise name the field of boxes alone.
/// @throws Error(invalid_argument) if the image is needed, and `fields` has none; or if `fields` has an image and a
/// field that is not `boxes`.
PENSTOCK_API Stage convert_boxes(ImageFields fields, const ConvertBoxesOptions& options);

}  // namespace penstock
