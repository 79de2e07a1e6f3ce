// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Adds a stage after `batch`. Its `out` is the schema of a delivered row.
/// @throws Error(schema_mismatch | unsupported) that names the stage.
void add_device_stage(PipelineData& data, BoundStage stage);

}  // namespace penstock::detail
