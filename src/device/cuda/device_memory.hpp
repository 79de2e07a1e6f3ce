#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

#include <penstock/memory.hpp>

namespace penstock::detail {

/// A GPU's memory, from a pool of our own: the default one is everybody's, and so are its limits. What comes back is
/// the driver's again at once, for whoever is in need of it, also while other loaders go on. Where there is none, what
/// the pool might still hold is given up first, and it is asked for once more. Any thread.
class CudaDeviceMemory final : public MemoryResource {
 public:
  /// On the current device, which must be `index`. `max_bytes`: the pool's limit, which the driver may round up; 0 =
  /// none. @throws Error(device | out_of_memory).
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
  cudaMemPool_t pool_ = nullptr;  // null: this device has none, and cudaMalloc serves
};

}  // namespace penstock::detail
