// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <penstock/memory.hpp>

namespace penstock::testing {

/// A resource that counts allocations and bytes.
class StatisticsResource final : public MemoryResource {
 public:
  /// Allocates from `upstream`, which must outlive this resource.
  explicit StatisticsResource(MemoryResource& upstream) : upstream_(upstream) {}
  void* allocate(std::size_t bytes, std::size_t align) override {
    void* const data = upstream_.allocate(bytes, align);
    allocations_.fetch_add(1, std::memory_order_relaxed);
    const std::size_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (peak < now && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
    return data;
  }
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override {
    upstream_.deallocate(data, bytes, align);
    used_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  MemoryKind kind() const noexcept override { return upstream_.kind(); }
  /// Number of calls of `allocate` that succeeded.
  std::uint64_t allocations() const noexcept { return allocations_.load(std::memory_order_relaxed); }
  /// Bytes in use.
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  /// The largest number of bytes that were in use at the same time.
  std::size_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  MemoryResource& upstream_;
  std::atomic<std::uint64_t> allocations_{0};
  std::atomic<std::size_t> used_{0}, peak_{0};
};

}  // namespace penstock::testing
