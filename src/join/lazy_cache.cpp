// SPDX-License-Identifier: Apache-2.0
#include "join/lazy_cache.hpp"

#include <utility>

#include <penstock/error.hpp>

namespace penstock::detail {

LazyCache::LazyCache(std::shared_ptr<const CacheMaker> maker, CacheKey key)
    : maker_(std::move(maker)), key_(std::move(key)) {}

const std::shared_ptr<RecordCache>& LazyCache::open(std::string_view of_part) const {
  const std::lock_guard lock(mutex_);
  if (cache_ == nullptr) try {
      cache_ = maker_->open(key_);
      opened_.store(cache_.get(), std::memory_order_release);
    } catch (Error& error) {
      throw error.with_stage(maker_->label().append(of_part));
    }
  return cache_;
}

}  // namespace penstock::detail
