// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail::runtime {

/// Describes how often blocks are read in this order; empty for sources without blocks. Tries the beginning of epoch 0
/// with the default memory of a loader.
std::string describe_blocks(const PipelineData& data);

}  // namespace penstock::detail::runtime
