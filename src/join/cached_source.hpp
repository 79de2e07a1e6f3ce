// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <penstock/detail/source_model.hpp>

#include "join/opened_cache.hpp"

namespace penstock::detail {

/// Returns a source with a cache before it. Its readers recall records from the cache and offer new ones to it. For
/// records that the cache has, the source is asked for neither blocks nor advice. The first reader opens the cache.
std::shared_ptr<const SourceModel> make_cached_source(std::shared_ptr<const SourceModel> source,
                                                      std::shared_ptr<const OpenedCache> cache);

}  // namespace penstock::detail
