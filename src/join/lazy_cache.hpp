// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>

#include <penstock/extend/cache.hpp>

namespace penstock::detail {

/// The cache of a pipeline. It is opened when samples are first asked for. Any thread may use it.
class LazyCache {
 public:
  LazyCache(std::shared_ptr<const CacheMaker> maker, CacheKey key);

  /// Returns the cache. Opens it if it is not open. May be called again after an exception.
  /// @throws what the maker throws. The stage is the maker's label and `of_part`, such as "cache of part 1".
  const std::shared_ptr<RecordCache>& open(std::string_view of_part = {}) const;
  /// Returns the cache; null until it is open.
  RecordCache* get() const noexcept { return opened_.load(std::memory_order_acquire); }

 private:
  const std::shared_ptr<const CacheMaker> maker_;
  const CacheKey key_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<RecordCache> cache_;
  mutable std::atomic<RecordCache*> opened_{nullptr};
};

}  // namespace penstock::detail
