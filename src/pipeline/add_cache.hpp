#pragma once

#include <memory>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Puts a cache before the source, to be opened when samples are asked for. @throws Error(invalid_argument) that names
/// the stage in its way, and what the maker's `check` throws.
void add_cache(PipelineData& data, std::shared_ptr<const CacheMaker> maker, const CacheAllows& allows);

}  // namespace penstock::detail
