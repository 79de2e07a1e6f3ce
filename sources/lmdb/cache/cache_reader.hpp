// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <penstock/extend/cache.hpp>

namespace penstock::lmdb {

class CacheStore;

/// Creates a reader that reads records in place in the store's map, in its own read transaction.
std::unique_ptr<penstock::CacheReader> make_cache_reader(std::shared_ptr<CacheStore> store);

}  // namespace penstock::lmdb
