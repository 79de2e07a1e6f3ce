#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include <penstock/memory.hpp>

namespace penstock::detail {

/// Host memory that GPUs read by themselves, aligned to pages; on a machine whose memory lies at several nodes, at the
/// GPU's. Any thread.
class CudaPinnedMemory final : public MemoryResource {
 public:
  /// Memory for GPU `index`; others read it as well.
  explicit CudaPinnedMemory(int index);

  /// `align`: at most 4096. @throws CannotPin; Error(out_of_memory | device).
  void* allocate(std::size_t bytes, std::size_t align) override;
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override;
  MemoryKind kind() const noexcept override { return MemoryKind::pinned; }

 private:
  const int index_;
  int node_ = -1;  // where the GPU is nearest; -1 = there is one alone
  std::mutex mutex_;
  std::map<void*, std::size_t> mapped_;  // ours, and registered: their bytes
};

}  // namespace penstock::detail
