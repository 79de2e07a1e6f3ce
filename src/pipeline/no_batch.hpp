// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Returns why a pipeline with `batch` can never deliver a batch. Returns an empty text if a batch may come. Only facts
/// that are known before samples are made are taken into account.
std::string why_no_batch(const PipelineData& data);

}  // namespace penstock::detail
