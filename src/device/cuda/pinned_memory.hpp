// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include <penstock/memory.hpp>

namespace penstock::detail {

/// Pinned host memory, which GPUs read by themselves, aligned to pages. On a machine with several memory nodes, prefers
/// the node nearest to the GPU. Any thread may use it.
class CudaPinnedMemory final : public MemoryResource {
 public:
  /// `index`: the GPU that the memory is for. Other GPUs can read the memory too.
  explicit CudaPinnedMemory(int index);

  /// `align`: at most 4096. @throws CannotPin; Error(out_of_memory | device).
  void* allocate(std::size_t bytes, std::size_t align) override;
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override;
  MemoryKind kind() const noexcept override { return MemoryKind::pinned; }

 private:
  const int index_;
  int node_ = -1;  // the node nearest to the GPU; -1 if there is only one node, or if the driver does not say which
  std::mutex mutex_;
  std::map<void*, std::size_t> mapped_;  // for each address that `map_pinned` returned, the bytes there
};

}  // namespace penstock::detail
