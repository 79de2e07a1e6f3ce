// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Returns why a pipeline with `batch` can never deliver a batch, whatever its samples are, and what the user can do.
/// Returns an empty text if a batch may come, as far as is known before samples are made.
std::string why_no_batch(const PipelineData& data);

}  // namespace penstock::detail
