#pragma once

#include <string>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail::runtime {

/// What reading blocks costs in this order, in words; empty for sources without them. Tries the beginning of epoch 0
/// with the memory a loader takes where nothing is said.
std::string describe_blocks(const PipelineData& data);

}  // namespace penstock::detail::runtime
