// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include <penstock/extend/cache.hpp>
#include <penstock/sources/lmdb_cache.hpp>

#include "cache/cache_store.hpp"

namespace penstock::lmdb {

/// Opens a cache, or returns it if this process already has it open. For an open cache, the key must be the same, and
/// the options of the first call apply. @throws Error(state_mismatch | invalid_argument | corrupt | unsupported |
/// out_of_memory | io).
std::shared_ptr<CacheStore> open_cache(const std::string& path, const LmdbCacheOptions& options,
                                       const penstock::CacheKey& key);

}  // namespace penstock::lmdb
