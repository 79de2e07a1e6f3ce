// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <penstock/error.hpp>
#include <penstock/memory.hpp>

namespace penstock::testing {

/// A resource whose n-th allocation fails, alone or with all later allocations.
class FailAfterResource final : public MemoryResource {
 public:
  /// Takes memory from `upstream`, which must outlive this resource. The `n`-th allocation from now fails. With
  /// `for_ever`, all later allocations fail too.
  FailAfterResource(MemoryResource& upstream, std::uint64_t n, bool for_ever)
      : upstream_(upstream), left_(static_cast<std::int64_t>(n)), for_ever_(for_ever) {}
  /// @throws Error(out_of_memory) if this allocation is to fail, or if `upstream` throws it.
  void* allocate(std::size_t bytes, std::size_t align) override {
    const std::int64_t left = left_.fetch_sub(1, std::memory_order_relaxed);
    if (left == 1 || (left < 1 && for_ever_)) throw Error(Errc::out_of_memory, "this allocation was made to fail");
    return upstream_.allocate(bytes, align);
  }
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override {
    upstream_.deallocate(data, bytes, align);
  }
  MemoryKind kind() const noexcept override { return upstream_.kind(); }

 private:
  MemoryResource& upstream_;
  std::atomic<std::int64_t> left_;
  const bool for_ever_;
};

}  // namespace penstock::testing
