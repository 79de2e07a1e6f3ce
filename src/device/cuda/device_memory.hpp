// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include <penstock/memory.hpp>

namespace penstock::detail {

/// Takes a GPU's memory from a pool of its own, because all code of the process shares the default pool and its limits.
/// Freed memory goes back to the driver immediately, for other users, even while other loaders run. If memory runs out,
/// the pool returns its free memory to the driver, and is asked a second time. Any thread may use it.
class CudaDeviceMemory final : public MemoryResource {
 public:
  /// REQUIRES: the current device is `index`. `max_bytes`: the limit of the pool, which the driver may round up; 0
  /// means no limit.
  /// @throws Error(device | out_of_memory).
  CudaDeviceMemory(int index, std::size_t max_bytes);
  CudaDeviceMemory(const CudaDeviceMemory&) = delete;
  CudaDeviceMemory& operator=(const CudaDeviceMemory&) = delete;
  ~CudaDeviceMemory() override;

  void* allocate(std::size_t bytes, std::size_t align) override;
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override;
  MemoryKind kind() const noexcept override { return MemoryKind::device; }

 private:
  void* take(std::size_t bytes);
  void give_back(void* data) noexcept;
  void trim() noexcept;

  const int index_;
  cudaStream_t stream_ = nullptr;
  cudaMemPool_t pool_ = nullptr;  // null if the device has no pools; then cudaMalloc is used
};

}  // namespace penstock::detail
