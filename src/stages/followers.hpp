// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/detail/image_stage_model.hpp>
#include <penstock/dtype.hpp>
#include <penstock/schema.hpp>
#include <penstock/shape.hpp>
#include <penstock/stages/image_fields.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock::detail::runtime {

/// Returns what the stage makes of an image. `dtype`: the image's, which becomes the result's. @throws Error with the
/// stage's label.
Shape result_of(const ImageStageModel& model, const Shape& in, DType& dtype, const std::string& label);

/// Returns `out` with what the stage `model` makes of a field that follows the image `first`.
/// @throws Error(schema_mismatch) if the field can't follow it.
Schema with_follower(PipelineBuilder& pipeline, const ImageField& field, const Field& first, const Schema& out,
                     const ImageStageModel& model, const std::string& label);

/// Returns what the field is, for plan() and the fingerprint: "boxes as boxes".
std::string describe_follower(const ImageField& field);

}  // namespace penstock::detail::runtime
