#pragma once

#include <string>

#include <penstock/schema.hpp>

#include "pipeline/pipeline_builder.hpp"

namespace penstock::detail::runtime {

/// The rows of the field can be put together as it says. @throws Error that names the stage.
void check_rows(const Field& field, const std::string& label);

/// The field has a length: a first dimension, or it is an integer. @throws Error(schema_mismatch) that names the stage.
void check_length(const Field& field, const std::string& label);

/// Settles the window of buckets for the pipeline's batches. @throws Error(invalid_argument | schema_mismatch).
void join_bucket(PipelineBuilder& pipeline, BucketSpec& bucket);

}  // namespace penstock::detail::runtime
