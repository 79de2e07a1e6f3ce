// SPDX-License-Identifier: Apache-2.0
#include "join/memory_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include <penstock/error.hpp>

#include "base/alignment.hpp"

namespace penstock::detail {

namespace {

// The alignment that the system's allocator gives anyway. A larger alignment would take more memory.
constexpr std::size_t entry_alignment = alignof(std::max_align_t);

void check_table(std::uint64_t records, std::size_t bytes) {
  if (records > bytes / sizeof(void*) || bytes == 0)
    throw Error(Errc::invalid_argument, "`max_bytes` = " + std::to_string(bytes) + " is less than the table of " +
                                            std::to_string(records) + " records takes, which is 8 bytes each");
}

// The head of a cached record. It is followed by the shapes of the fields whose shapes vary, and then by the values of
// all fields, each aligned.
struct CachedRecord {
  std::size_t bytes;
};

class MemoryCache final : public RecordCache, public std::enable_shared_from_this<MemoryCache> {
 public:
  MemoryCache(const CacheKey& key, std::size_t bytes, MemoryResource& memory)
      : schema_(key.schema), records_(key.records), limit_(bytes), memory_(memory) {
    check_table(records_, limit_);
    const std::size_t table = static_cast<std::size_t>(records_) * sizeof(CachedRecord*);
    // Pages from calloc take no memory until they are written to.
    entries_.reset(static_cast<CachedRecord**>(std::calloc(std::max<std::size_t>(table, 1), 1)));
    if (entries_ == nullptr) throw std::bad_alloc();
    used_.store(table, std::memory_order_relaxed);
    std::size_t fixed = sizeof(CachedRecord);
    for (const Field& field : schema_)
      if (!field.shape.fixed()) fixed += sizeof(Shape);
    header_ = aligned(fixed);
  }
  ~MemoryCache() override {
    if (kept_.load(std::memory_order_relaxed) == 0) return;
    for (std::uint64_t index = 0; index < records_; ++index)
      if (CachedRecord* const entry = entries_.get()[index]; entry != nullptr)
        memory_.deallocate(entry, entry->bytes, entry_alignment);
  }

  bool has(std::uint64_t index) const noexcept override { return find(index) != nullptr; }
  std::unique_ptr<CacheReader> open_reader() override;
  void offer(std::uint64_t index, Sample& sample) noexcept override {
    if (index >= records_ || has(index)) return;
    std::size_t bytes = header_;
    for (std::size_t slot = 0; slot < schema_.size(); ++slot) bytes += aligned(sample.bytes(slot).size());
    // A record that has no room must not keep out smaller records, so its reserved bytes are given back. `used_` is
    // read first, so that threads that offer records to a full cache don't write to `used_`.
    const std::size_t most = limit_ - std::min(bytes, limit_);
    if (used_.load(std::memory_order_relaxed) > most) return full_.store(true, std::memory_order_relaxed);
    if (used_.fetch_add(bytes, std::memory_order_relaxed) > most) {
      used_.fetch_sub(bytes, std::memory_order_relaxed);
      return full_.store(true, std::memory_order_relaxed);
    }
    CachedRecord* entry = nullptr;
    try {
      entry = static_cast<CachedRecord*>(memory_.allocate(bytes, entry_alignment));
    } catch (...) {
      used_.fetch_sub(bytes, std::memory_order_relaxed);
      return full_.store(true, std::memory_order_relaxed);
    }
    fill(*entry, bytes, sample);
    CachedRecord* none = nullptr;
    if (!std::atomic_ref(entries_.get()[index])
             .compare_exchange_strong(none, entry, std::memory_order_release, std::memory_order_relaxed)) {
      memory_.deallocate(entry, bytes, entry_alignment);  // another runner has stored this record first
      used_.fetch_sub(bytes, std::memory_order_relaxed);
      return;
    }
    kept_.fetch_add(1, std::memory_order_relaxed);
  }
  std::vector<std::string> notes() const override {
    std::string text = "the cache in memory has " + std::to_string(kept_.load(std::memory_order_relaxed)) + " of " +
                       std::to_string(records_) + " records, in " +
                       std::to_string(used_.load(std::memory_order_relaxed) >> 20) + " MiB";
    if (full_.load(std::memory_order_relaxed))
      text += "; it is full: `max_bytes` is " + std::to_string(limit_ >> 20) + " MiB, the other records are made anew";
    return {text};
  }

  bool give(std::uint64_t index, SampleBuilder& out) const {
    const CachedRecord* const entry = find(index);
    if (entry == nullptr) return false;
    const auto* const from = reinterpret_cast<const std::byte*>(entry);
    const std::byte* shapes = from + sizeof(CachedRecord);
    const std::byte* value = from + header_;
    for (std::size_t slot = 0; slot < schema_.size(); ++slot) {
      Shape shape = schema_[slot].shape;
      if (!shape.fixed()) {
        std::memcpy(&shape, shapes, sizeof shape);
        shapes += sizeof shape;
      }
      out.view(slot, value, shape);
      value += aligned(static_cast<std::size_t>(shape.elements()) * size_of(schema_[slot].dtype));
    }
    return true;
  }

 private:
  static_assert(std::is_trivially_copyable_v<Shape>);
  struct Free {
    void operator()(CachedRecord** table) const noexcept { std::free(table); }
  };

  const CachedRecord* find(std::uint64_t index) const noexcept {
    return index < records_ ? std::atomic_ref(entries_.get()[index]).load(std::memory_order_acquire) : nullptr;
  }
  void fill(CachedRecord& entry, std::size_t bytes, const Sample& sample) const noexcept {
    entry.bytes = bytes;
    auto* const to = reinterpret_cast<std::byte*>(&entry);
    std::byte* shapes = to + sizeof(CachedRecord);
    std::byte* value = to + header_;
    for (std::size_t slot = 0; slot < schema_.size(); ++slot) {
      const TensorView from = sample.tensor(slot);
      if (!schema_[slot].shape.fixed()) {
        std::memcpy(shapes, &from.shape, sizeof(Shape));
        shapes += sizeof(Shape);
      }
      if (from.bytes() != 0) std::memcpy(value, from.data, from.bytes());
      value += aligned(from.bytes());
    }
  }

  const Schema schema_;
  const std::uint64_t records_;
  const std::size_t limit_;
  MemoryResource& memory_;
  std::size_t header_ = 0;
  std::unique_ptr<CachedRecord*, Free> entries_;
  // Relaxed order is enough here. Each addition to `used_` sees all earlier additions, so the kept records never exceed
  // the limit. Other threads see the bytes of a record through `entries_`, which has release and acquire order.
  std::atomic<std::size_t> used_{0};
  std::atomic<std::uint64_t> kept_{0};
  std::atomic<bool> full_{false};
};

class MemoryCacheReader final : public CacheReader {
 public:
  explicit MemoryCacheReader(std::shared_ptr<const MemoryCache> cache) : cache_(std::move(cache)) {}
  bool has(std::uint64_t index) override { return cache_->has(index); }
  bool read(std::uint64_t index, SampleBuilder& out) override { return cache_->give(index, out); }

 private:
  std::shared_ptr<const MemoryCache> cache_;
};

std::unique_ptr<CacheReader> MemoryCache::open_reader() {
  return std::make_unique<MemoryCacheReader>(shared_from_this());
}

class MemoryCacheMaker final : public CacheMaker {
 public:
  explicit MemoryCacheMaker(std::size_t bytes) : bytes_(bytes) {}
  void check(const CacheKey& key) const override { check_table(key.records, bytes_); }
  std::shared_ptr<RecordCache> open(const CacheKey& key) const override {
    return make_memory_cache(key, bytes_, host_memory());
  }
  std::string label() const override { return "cache"; }

 private:
  std::size_t bytes_;
};

}  // namespace

std::shared_ptr<RecordCache> make_memory_cache(const CacheKey& key, std::size_t bytes, MemoryResource& memory) {
  return std::make_shared<MemoryCache>(key, bytes, memory);
}

}  // namespace penstock::detail

namespace penstock {

Stage cache(CacheOptions options) {
  if (options.max_bytes == 0)
    throw Error(Errc::invalid_argument, "say how much memory it may take: cache({.max_bytes = GiB(4)})")
        .with_stage("cache");
  return cache(std::make_shared<detail::MemoryCacheMaker>(options.max_bytes), options.allows);
}

}  // namespace penstock
