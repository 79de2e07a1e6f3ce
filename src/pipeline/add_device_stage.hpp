// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Adds a stage after `batch`. `stage.out`: the schema of a delivered row.
/// @throws Error(schema_mismatch | unsupported), which names the stage.
void add_device_stage(PipelineData& data, BoundStage stage);

}  // namespace penstock::detail
