// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include <penstock/extend/cache.hpp>
#include <penstock/memory.hpp>

namespace penstock::detail {

/// Returns a cache that keeps records in at most `bytes` bytes of `memory`. `memory` must outlive the cache.
/// @throws Error(invalid_argument) if `bytes` is too small for the table of records.
std::shared_ptr<RecordCache> make_memory_cache(const CacheKey& key, std::size_t bytes, MemoryResource& memory);

}  // namespace penstock::detail
