#pragma once

#include <cstddef>
#include <memory>

#include <penstock/extend/cache.hpp>
#include <penstock/memory.hpp>

namespace penstock::detail {

/// Records in memory of `memory`, which must outlive it, as far as `bytes` go. @throws Error(invalid_argument) where
/// they don't suffice for the table of records.
std::shared_ptr<RecordCache> make_memory_cache(const CacheKey& key, std::size_t bytes, MemoryResource& memory);

}  // namespace penstock::detail
