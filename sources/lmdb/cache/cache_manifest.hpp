// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/extend/cache.hpp>

#include "store/manifest.hpp"

namespace penstock::lmdb {

/// Returns the manifest of a cache. It is like the manifest of a store of records, with `key` as the job.
Manifest cache_manifest(const penstock::CacheKey& key);
/// Explains why the cache with the manifest `there` does not have the key `key`. Returns an empty text if it has that
/// key. @throws Error(invalid_argument), which names no file, if the store is not a cache.
std::string difference(const Manifest& there, const penstock::CacheKey& key);

}  // namespace penstock::lmdb
