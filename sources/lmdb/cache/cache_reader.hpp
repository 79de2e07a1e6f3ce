// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <penstock/extend/cache.hpp>

namespace penstock::lmdb {

class CacheStore;

/// Creates a reader that has its own read transaction. The fields that it reads are views of the store's map. Only
/// unaligned fields are copied.
std::unique_ptr<penstock::CacheReader> make_cache_reader(std::shared_ptr<CacheStore> store);

}  // namespace penstock::lmdb
