// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/schema.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock::detail::runtime {

/// Checks that the field's rows can be combined as the field specifies. @throws Error that names the stage.
void check_rows(const Field& field, const std::string& label);

/// Checks that the field has a length: a first dimension, or an integer value. @throws Error(schema_mismatch) that
/// names the stage.
void check_length(const Field& field, const std::string& label);

/// Sets `bucket.options.window` if it is 0. Checks that the pipeline's batches can be cut from such windows, and that
/// the field has a length. @throws Error(invalid_argument | schema_mismatch).
void join_bucket(PipelineBuilder& pipeline, BucketSpec& bucket);

}  // namespace penstock::detail::runtime
