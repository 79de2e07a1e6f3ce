// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_op.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `cutmix`. All are result options.
struct CutmixOptions {
  std::string image = "image";  ///< the image, of any dtype and of fixed shape, [H, W, C] or [C, H, W]
  /// Fields that are mixed by the shares of pixels, of dtype f32, f16 or bf16: labels that `one_hot` made.
  std::vector<std::string> fields = {"label"};
  double alpha = 1;  ///< 0.001 to 1000: the share of the image's own pixels is drawn from Beta(alpha, alpha)
  /// The image's layout. Default: the one in which channels are 1 to 4. Required if both are, or neither is.
  std::optional<Layout> layout = {};
};

/// Replaces a box of each image by the same box of its neighbour's (Yun et al., ICCV 2019). Put it after `batch`. Rows
/// are neighbours as in `mixup`. Both rows of a pair have the same box.
///
/// With a drawn share s, the box has the sides sqrt(1 - s) H and sqrt(1 - s) W, and any pixel as its centre. What is
/// outside of the image is cut off. Then out = p x[r] + (1 - p) x[r ^ 1] for the other fields, where p is the exact
/// share of pixels that stay.
///
/// Host and GPUs give the same bits, if the values of `fields` are finite. The number of ranks is part of the
/// fingerprint.
/// @throws Error(invalid_argument) if an option is outside its bounds, or a field is named twice.
/// @throws Error(schema_mismatch) when the stage joins a pipeline, if a field has another dtype, or the image's layout
/// is not clear.
PENSTOCK_API Stage cutmix(const CutmixOptions& options = {});

}  // namespace penstock
