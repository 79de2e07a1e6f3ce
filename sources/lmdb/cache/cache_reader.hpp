#pragma once

#include <memory>

#include <penstock/extend/cache.hpp>

namespace penstock::lmdb {

class CacheStore;

/// Reads records where they lie in the store's map, in a read transaction of its own.
std::unique_ptr<penstock::CacheReader> make_cache_reader(std::shared_ptr<CacheStore> store);

}  // namespace penstock::lmdb
