// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <penstock/stages/stage.hpp>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Adds a stage to a pipeline, and checks it against the stages before it.
/// @throws what the stage's own documentation lists; `data` must not be used after that.
void add_stage(PipelineData& data, const Stage& stage);

}  // namespace penstock::detail
