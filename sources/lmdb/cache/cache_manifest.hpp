// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <penstock/extend/cache.hpp>

#include "store/manifest.hpp"

namespace penstock::lmdb {

/// Returns the manifest of a cache: the manifest of a store of records, with the key as its job.
Manifest cache_manifest(const penstock::CacheKey& key);
/// Explains why the cache with this manifest does not have that key; empty if it has. @throws Error(invalid_argument),
/// without a file, if the store is not a cache.
std::string difference(const Manifest& there, const penstock::CacheKey& key);

}  // namespace penstock::lmdb
