#pragma once

#include <string>

#include <penstock/extend/cache.hpp>

#include "store/manifest.hpp"

namespace penstock::lmdb {

/// What a cache says of itself: the manifest of a store of records, with the key as its job.
Manifest cache_manifest(const penstock::CacheKey& key);
/// Why the cache with this manifest is not one of that key, in words; empty where it is.
/// @throws Error(invalid_argument), without a file, for a store that is no cache.
std::string difference(const Manifest& there, const penstock::CacheKey& key);

}  // namespace penstock::lmdb
