// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/transform.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Moves an image's first dimension to its end; see `channels_last`. Immutable; any thread may use it.
class PENSTOCK_API ChannelsLast {
 public:
  TensorType result(const TensorType& in) const;
  void operator()(const TensorView& in, const TensorView& out) const;
};

/// Turns images with the channels first, [C, H, W], into [H, W, C], which image stages take. The field may have any
/// dtype.
/// @throws Error(schema_mismatch) when the stage joins a pipeline, if the field does not have three dimensions.
PENSTOCK_API Stage channels_last(std::string field);

}  // namespace penstock
