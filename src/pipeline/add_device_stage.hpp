#pragma once

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Adds a stage after `batch`, whose `out` is of a delivered row. @throws Error(schema_mismatch | unsupported) that
/// names it.
void add_device_stage(PipelineData& data, BoundStage stage);

}  // namespace penstock::detail
