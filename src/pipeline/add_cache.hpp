#pragma once

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Opens the cache and puts it before the source. @throws Error(invalid_argument) that names the stage in its way, and
/// what opening it throws.
void add_cache(PipelineData& data, const CacheMaker& maker, const CacheAllows& allows);

}  // namespace penstock::detail
