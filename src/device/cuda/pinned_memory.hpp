#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>

#include <penstock/memory.hpp>

namespace penstock::detail {

/// Host memory that GPUs read by themselves, aligned to pages. Any thread.
class CudaPinnedMemory final : public MemoryResource {
 public:
  /// For GPU `index`; others read it as well. `failed`: whether a call of this device's ever did.
  CudaPinnedMemory(int index, const std::atomic<bool>& failed) : index_(index), failed_(failed) {}

  /// `align`: at most 4096.
  void* allocate(std::size_t bytes, std::size_t align) override;
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override;
  MemoryKind kind() const noexcept override { return MemoryKind::pinned; }

 private:
  const int index_;
  const std::atomic<bool>& failed_;
  std::mutex mutex_;
  std::map<void*, std::size_t> mapped_;  // ours, and registered: their bytes
};

}  // namespace penstock::detail
