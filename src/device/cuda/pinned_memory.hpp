#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include <penstock/memory.hpp>

namespace penstock::detail {

/// Host memory that GPUs read by themselves, aligned to pages. Any thread.
class CudaPinnedMemory final : public MemoryResource {
 public:
  /// For GPU `index`; others read it as well.
  explicit CudaPinnedMemory(int index) : index_(index) {}

  /// `align`: at most 4096.
  void* allocate(std::size_t bytes, std::size_t align) override;
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override;
  MemoryKind kind() const noexcept override { return MemoryKind::pinned; }

 private:
  const int index_;
  std::mutex mutex_;
  std::map<void*, std::size_t> mapped_;  // ours, and registered: their bytes
};

}  // namespace penstock::detail
