#pragma once

#include <memory>

#include <penstock/detail/source_model.hpp>

#include "join/opened_cache.hpp"

namespace penstock::detail {

/// A source with a cache before it: its readers recall and offer, and neither blocks nor advice are asked of the source
/// for records that the cache has. It is opened with the first reader.
std::shared_ptr<const SourceModel> make_cached_source(std::shared_ptr<const SourceModel> source,
                                                      std::shared_ptr<const OpenedCache> cache);

}  // namespace penstock::detail
