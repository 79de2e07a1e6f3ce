// SPDX-License-Identifier: Apache-2.0
#include "pinned_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "base/cores.hpp"
#include "base/memory_nodes.hpp"
#include "cuda_error.hpp"
#include "cuda_scope.hpp"
#include "device/staging_memory.hpp"

namespace penstock::detail {

namespace {

constexpr std::size_t page_bytes = 4096;
// When the driver pins memory, it touches all pages on one thread, while other threads wait. For blocks larger than
// this, touching the pages first on several threads is faster.
constexpr std::size_t touched_first_bytes = GiB(1);
constexpr std::size_t max_touchers = 8;

[[noreturn]] void refuse(cudaError_t code, const char* call, std::size_t bytes) {
  const Error error = cuda_error(code, "asking for " + std::to_string(bytes) + " bytes of pinned memory, " + call,
                                 "`depth` or the batch size");
  if (cannot_pin(code)) throw CannotPin(error.code(), error.cause());
  throw Error(error);
}

void touch_pages(std::byte* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += page_bytes) *static_cast<volatile std::byte*>(data + at) = std::byte{0};
}

// Touches all pages, on several threads, so that the system provides the pages' memory.
void touch_all_pages(std::byte* data, std::size_t bytes) {
  const std::size_t share =
      bytes / std::min<std::size_t>(usable_cores(), max_touchers) / page_bytes * page_bytes + page_bytes;
  std::vector<std::jthread> threads;
  for (std::size_t at = 0; at < bytes; at += share) {
    const std::size_t count = std::min(share, bytes - at);
    try {
      if (at + share < bytes) {
        threads.emplace_back(touch_pages, data + at, count);
        continue;
      }
    } catch (const std::exception&) {  // the thread could not be started: this thread touches its share
    }
    touch_pages(data + at, count);
  }
}

// Maps memory and pins it. If `node` is not negative, prefers memory of that node.
void* map_pinned(std::size_t bytes, int node) {
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    throw Error(Errc::out_of_memory, "the system has no " + std::to_string(bytes) +
                                         " bytes of host memory to pin; lower `depth` or the batch size");
  if (node >= 0) static_cast<void>(prefer_memory_node(data, bytes, node));
  if (bytes > touched_first_bytes) touch_all_pages(static_cast<std::byte*>(data), bytes);
  const cudaError_t code = cudaHostRegister(data, bytes, cudaHostRegisterPortable);
  if (code == cudaSuccess) return data;
  ::munmap(data, bytes);
  refuse(code, "cudaHostRegister", bytes);
}

}  // namespace

CudaPinnedMemory::CudaPinnedMemory(int index) : index_(index) {
  if (!has_several_memory_nodes()) return;
  const cudaError_t code = cudaDeviceGetAttribute(&node_, cudaDevAttrHostNumaId, index);
  forget_cuda(code);
  if (code != cudaSuccess) node_ = -1;
}

void* CudaPinnedMemory::allocate(std::size_t bytes, std::size_t align) {
  if (align > page_bytes)
    throw Error(Errc::unsupported, "pinned memory is aligned to " + std::to_string(page_bytes) + " bytes, not to " +
                                       std::to_string(align));
  const CudaScope scope(index_);
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + page_bytes - 1) / page_bytes * page_bytes;
  if (node_ < 0 && size <= touched_first_bytes) {
    void* data = nullptr;
    const cudaError_t code = cudaHostAlloc(&data, size, cudaHostAllocPortable);
    if (code != cudaSuccess) refuse(code, "cudaHostAlloc", size);
    if (reinterpret_cast<std::uintptr_t>(data) % page_bytes == 0) return data;
    forget_cuda(cudaFreeHost(data));  // the driver put several allocations into one page
  }
  // The entry is made first, so that nothing can fail after the mapping.
  std::map<void*, std::size_t> made;
  auto entry = made.extract(made.emplace(nullptr, size).first);
  void* const data = map_pinned(size, node_);
  entry.key() = data;
  const std::lock_guard lock(mutex_);
  mapped_.insert(std::move(entry));
  return data;
}

void CudaPinnedMemory::deallocate(void* data, std::size_t, std::size_t) noexcept {
  std::size_t size = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = mapped_.find(data);
    if (found != mapped_.end()) {
      size = found->second;
      mapped_.erase(found);
    }
  }
  try {
    const CudaScope scope(index_);
    forget_cuda(size == 0 ? cudaFreeHost(data) : cudaHostUnregister(data));
  } catch (...) {  // the process ends, or the device is gone
  }
  if (size != 0) ::munmap(data, size);
}

}  // namespace penstock::detail
