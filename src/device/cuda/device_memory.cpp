// SPDX-License-Identifier: Apache-2.0
#include "device_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "cuda_error.hpp"
#include "cuda_scope.hpp"

namespace penstock::detail {

namespace {

cudaMemPool_t make_pool(int index, std::size_t max_bytes) {
  int supported = 0;
  check_cuda(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, index), "cudaDeviceGetAttribute");
  if (supported == 0) return nullptr;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = index;
  properties.maxSize = max_bytes;
  cudaMemPool_t pool = nullptr;
  check_cuda(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  // Without this threshold, the pool would shrink whenever any code of the process waits for the GPU. `give_back`
  // shrinks it instead.
  auto keep = std::numeric_limits<std::uint64_t>::max();
  const cudaError_t code = cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  if (code == cudaSuccess) return pool;
  const Error error = cuda_error(code, "cudaMemPoolSetAttribute");
  forget_cuda(cudaMemPoolDestroy(pool));
  throw Error(error);
}

Error no_device_memory(cudaError_t code, const char* call, std::size_t bytes) {
  return cuda_error(code, "asking for " + std::to_string(bytes) + " bytes of device memory, " + call,
                    "`device_depth` or the batch size");
}

}  // namespace

CudaDeviceMemory::CudaDeviceMemory(int index, std::size_t max_bytes) : index_(index) {
  check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  try {
    pool_ = make_pool(index, max_bytes);
  } catch (...) {
    forget_cuda(cudaStreamDestroy(stream_));
    throw;
  }
}

CudaDeviceMemory::~CudaDeviceMemory() {
  try {
    const CudaScope scope(index_);
    if (pool_ != nullptr) forget_cuda(cudaMemPoolDestroy(pool_));
    forget_cuda(cudaStreamDestroy(stream_));
  } catch (...) {  // the process ends, or the device is gone; then the memory is gone too
  }
}

// Takes memory. REQUIRES: the device is current.
void* CudaDeviceMemory::take(std::size_t bytes) {
  void* data = nullptr;
  if (pool_ == nullptr) {
    const cudaError_t code = cudaMalloc(&data, bytes);
    if (code != cudaSuccess) throw no_device_memory(code, "cudaMalloc", bytes);
    return data;
  }
  cudaError_t code =
      with_second_try([&] { return cudaMallocFromPoolAsync(&data, bytes, pool_, stream_); }, [this] { trim(); });
  if (code != cudaSuccess) throw no_device_memory(code, "cudaMallocFromPoolAsync", bytes);
  // Users of the memory have streams of their own, which don't wait for `stream_`. So the host waits here.
  code = cudaStreamSynchronize(stream_);
  if (code == cudaSuccess) return data;
  const Error error = no_device_memory(code, "cudaStreamSynchronize", bytes);
  give_back(data);
  throw Error(error);
}

// Gives memory back. REQUIRES: the device is current.
void CudaDeviceMemory::give_back(void* data) noexcept {
  if (pool_ == nullptr) {
    forget_cuda(cudaFree(data));
    return;
  }
  forget_cuda(cudaFreeAsync(data, stream_));
  trim();
}

// Returns free memory to the driver. Blocks are few and large, and most are taken when a loader is made. So taking
// blocks from the driver again costs little.
void CudaDeviceMemory::trim() noexcept {
  forget_cuda(cudaStreamSynchronize(stream_));
  forget_cuda(cudaMemPoolTrimTo(pool_, 0));
}

void* CudaDeviceMemory::allocate(std::size_t bytes, std::size_t align) {
  const CudaScope scope(index_);
  void* const data = take(std::max<std::size_t>(bytes, 1));
  if (reinterpret_cast<std::uintptr_t>(data) % align == 0) return data;
  give_back(data);
  throw Error(Errc::unsupported, "device memory is not aligned to " + std::to_string(align) + " bytes");
}

void CudaDeviceMemory::deallocate(void* data, std::size_t, std::size_t) noexcept {
  try {
    const CudaScope scope(index_);
    // The caller has waited for all users of the memory. Waiting here for the whole device would spoil every graph that
    // is being captured on it.
    give_back(data);
  } catch (...) {  // the process ends, or the device is gone; then the memory is gone too
  }
}

}  // namespace penstock::detail
