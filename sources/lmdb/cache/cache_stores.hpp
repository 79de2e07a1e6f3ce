#pragma once

#include <memory>
#include <string>

#include <penstock/extend/cache.hpp>
#include <penstock/sources/lmdb_cache.hpp>

#include "cache/cache_store.hpp"

namespace penstock::lmdb {

/// The caches this process has open. Who opens one again gets the same, where the key is the same; the options are
/// those of the first.
/// @throws Error(state_mismatch | invalid_argument | corrupt | io).
std::shared_ptr<CacheStore> open_cache(const std::string& path, const LmdbCacheOptions& options,
                                       const penstock::CacheKey& key);

}  // namespace penstock::lmdb
