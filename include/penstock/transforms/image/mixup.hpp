// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `mixup`. All are result options.
struct MixupOptions {
  /// Fields to mix, of dtype f32, f16 or bf16 and of fixed shape: images, and labels that `one_hot` made.
  std::vector<std::string> fields = {"image", "label"};
  double alpha = 0.2;  ///< 0.001 to 1000: the share is drawn from Beta(alpha, alpha)
};

/// Mixes rows of a batch with their neighbours (Zhang et al., ICLR 2018). Put it after `batch`:
///
///     out[r] = s x[r] + (1 - s) x[r ^ 1]
///
/// Rows 0 and 1 are neighbours, rows 2 and 3, and so on. Each pair has one share s, drawn at the place of its first
/// row. If one row of a pair is masked or padding, or the last row has no neighbour, these rows stay as they are.
///
/// Computes in binary32 without contraction, and rounds once for f16 and bf16. So the host and GPUs give the same bits
/// for finite values. A neighbour is a row of the same rank. So the number of ranks is part of the fingerprint.
/// @throws Error(invalid_argument) if an option is outside its bounds, or a field is named twice.
/// @throws Error(schema_mismatch) when the stage joins a pipeline, if a field has another dtype.
PENSTOCK_API Stage mixup(const MixupOptions& options = {});

}  // namespace penstock
