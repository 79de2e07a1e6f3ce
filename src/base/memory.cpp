// SPDX-License-Identifier: Apache-2.0
#include <penstock/memory.hpp>

#include <pthread.h>

#include <array>
#include <cstddef>
#include <new>
#include <string>

#include <penstock/error.hpp>

#include "base/host_pages.hpp"

namespace penstock {

std::string_view to_string(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::host:
      return "host";
    case MemoryKind::pinned:
      return "pinned";
    case MemoryKind::device:
      return "device";
  }
  return "?";
}

namespace {

class HostMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, std::size_t align) override {
    void* data = from_the_system(bytes, align) ? pages_.take(bytes)
                                               : ::operator new(bytes, std::align_val_t(align), std::nothrow);
    if (data == nullptr)
      throw Error(Errc::out_of_memory, "the system has no " + std::to_string(bytes) +
                                           " bytes of host memory; lower `depth`, `threads` or the batch size");
    return data;
  }
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override {
    if (from_the_system(bytes, align)) {
      pages_.give_back(data, bytes);
    } else {
      ::operator delete(data, std::align_val_t(align));
    }
  }
  MemoryKind kind() const noexcept override { return MemoryKind::host; }
  detail::HostPages& pages() noexcept { return pages_; }

 private:
  // Large pieces of memory do not come from the heap, unless `align` is larger than `HostPages` offers. If they came
  // from malloc, malloc would take them from the heap once the first large piece is freed. A process that makes one
  // loader after another would then grow by the holes between these pieces.
  static bool from_the_system(std::size_t bytes, std::size_t align) noexcept {
    return bytes >= (128u << 10) && align <= detail::HostPages::alignment;
  }

  detail::HostPages pages_;
};

}  // namespace

MemoryResource& host_memory() noexcept {
  // Never destroyed, because static objects may still hold memory of it when they are destroyed.
  alignas(HostMemory) static std::array<std::byte, sizeof(HostMemory)> storage;
  static HostMemory& resource = *new (storage.data()) HostMemory;
  // These handlers keep the mutex usable in a child process, in which only the thread that called fork() continues.
  [[maybe_unused]] static const int no_handlers =
      ::pthread_atfork([] { resource.pages().before_fork(); }, [] { resource.pages().after_fork(); },
                       [] { resource.pages().after_fork(); });
  return resource;
}

namespace {

// Initialized before any thread starts. If one thread called fork() while another thread initialized the
// resource, the child would wait for the end of the initialization for ever.
[[maybe_unused]] const MemoryResource& begun_early = host_memory();

}  // namespace

void* LimitResource::allocate(std::size_t bytes, std::size_t align) {
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ || used > limit_ - bytes)
      throw Error(Errc::out_of_memory, "the limit of " + std::to_string(limit_) + " bytes has no room for " +
                                           std::to_string(bytes) + " more; " + std::to_string(used) + " are in use");
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  try {
    return upstream_->allocate(bytes, align);
  } catch (...) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    throw;
  }
}
void LimitResource::deallocate(void* data, std::size_t bytes, std::size_t align) noexcept {
  upstream_->deallocate(data, bytes, align);
  used_.fetch_sub(bytes, std::memory_order_relaxed);
}

}  // namespace penstock
