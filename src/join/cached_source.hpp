// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <penstock/detail/source_model.hpp>

#include "join/lazy_cache.hpp"

namespace penstock::detail {

/// Returns `source` with a cache before it. The readers of the returned source recall records from the cache and offer
/// new records to it. For records that the cache has, `source` gets no advice and its blocks are not loaded. The first
/// reader opens the cache.
std::shared_ptr<const SourceModel> make_cached_source(std::shared_ptr<const SourceModel> source,
                                                      std::shared_ptr<const LazyCache> cache);

}  // namespace penstock::detail
