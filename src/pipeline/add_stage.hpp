#pragma once

#include <penstock/stages/stage.hpp>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Adds a stage to a pipeline, checking it against what stands before. @throws what the stage's own documentation says;
/// `data` is of no use then.
void add_stage(PipelineData& data, const Stage& stage);

}  // namespace penstock::detail
