#pragma once

#include <string>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Why no batch can ever come of a pipeline that has `batch`, whatever its samples are, and what to do; empty: some may
/// come, as far as is known before samples are made.
std::string why_no_batch(const PipelineData& data);

}  // namespace penstock::detail
