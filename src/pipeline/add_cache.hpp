// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "pipeline/pipeline_data.hpp"

namespace penstock::detail {

/// Adds a cache of the samples that the stages so far make. `data.source` becomes a source that looks into the cache
/// first. The cache is opened when samples are first asked for.
/// @throws Error(invalid_argument) if a stage must not come before a cache, the source is a stream, or there is a cache
/// already; and what the maker's `check` throws.
void add_cache(PipelineData& data, std::shared_ptr<const CacheMaker> maker, const CacheAllows& allows);

}  // namespace penstock::detail
