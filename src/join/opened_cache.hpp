#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include <penstock/extend/cache.hpp>

namespace penstock::detail {

/// The cache of a pipeline, which is opened when samples are first asked for. Any thread.
class OpenedCache {
 public:
  OpenedCache(std::shared_ptr<const CacheMaker> maker, CacheKey key);

  /// Opens it, unless it is open; a call that failed is no reason not to try again.
  /// @throws what the maker does, with its label as the stage.
  const std::shared_ptr<RecordCache>& open() const;
  /// Null until it is open.
  RecordCache* get() const noexcept { return opened_.load(std::memory_order_acquire); }

 private:
  const std::shared_ptr<const CacheMaker> maker_;
  const CacheKey key_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<RecordCache> cache_;
  mutable std::atomic<RecordCache*> opened_{nullptr};
};

}  // namespace penstock::detail
