// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail::runtime {

/// Returns a text about how often the pipeline's order decodes blocks. Returns an empty text if the source has no
/// blocks or no records. Plans the beginning of epoch 0 with the default `max_block_bytes` of a loader.
std::string describe_blocks(const PipelineData& data);

}  // namespace penstock::detail::runtime
