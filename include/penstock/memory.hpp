// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <penstock/detail/export.hpp>
#include <penstock/device.hpp>

namespace penstock {

/// `n` x 1,024.
constexpr std::size_t KiB(std::size_t n) { return n << 10; }
/// `n` x 1,024 x 1,024.
constexpr std::size_t MiB(std::size_t n) { return n << 20; }
/// `n` x 1,024 x 1,024 x 1,024.
constexpr std::size_t GiB(std::size_t n) { return n << 30; }

/// Where memory is: on the host; pinned on the host, so that a device can read it directly; or on a device.
enum class MemoryKind : std::uint8_t { host, pinned, device };
/// Returns "host", "pinned" or "device".
PENSTOCK_API std::string_view to_string(MemoryKind kind) noexcept;

/// Allocates memory. Any thread. A resource must outlive everything that is allocated from it.
class PENSTOCK_API MemoryResource {
 public:
  virtual ~MemoryResource() = default;
  /// Allocates `bytes` bytes, aligned to `align`, a power of two.
  /// @throws Error(out_of_memory) that says how much was requested and what to lower.
  virtual void* allocate(std::size_t bytes, std::size_t align) = 0;
  /// Frees memory that `allocate` returned. `bytes` and `align` must be the same as in that call.
  virtual void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept = 0;
  /// Kind of the memory.
  virtual MemoryKind kind() const noexcept = 0;
};

/// Returns the process's ordinary memory. The resource lives as long as the program.
PENSTOCK_API MemoryResource& host_memory() noexcept;

/// Refuses allocations that would exceed a limit. Refused allocations don't count, so a large request that is refused
/// can't make a small one fail.
class PENSTOCK_API LimitResource final : public MemoryResource {
 public:
  /// Allocates from `upstream`, which must outlive this resource. At most `limit_bytes` bytes are in use at the same
  /// time.
  LimitResource(MemoryResource& upstream, std::size_t limit_bytes) : upstream_(&upstream), limit_(limit_bytes) {}
  void* allocate(std::size_t bytes, std::size_t align) override;
  void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept override;
  MemoryKind kind() const noexcept override { return upstream_->kind(); }
  /// The limit in bytes.
  std::size_t limit() const noexcept { return limit_; }
  /// Bytes in use.
  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }

 private:
  MemoryResource* upstream_;
  std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

/// Returns a pool of the device's own memory, from which loaders allocate their batches. Returns `host_memory()` if
/// `device` is `host()`. Wrap the pool in a LimitResource for a limit that several loaders share
/// (`LoaderOptions::device_resource`). Any thread. The device stays open as long as the returned pointer or a copy of
/// it exists.
/// @throws Error(unsupported) that says why the device is not available.
PENSTOCK_API std::shared_ptr<MemoryResource> device_memory(Device device);

/// Returns host memory that the device reads directly. Loaders for this device allocate their batch buffers from it.
/// Returns `host_memory()` if `device` is `host()`. Any thread. The device stays open as long as the returned pointer
/// or a copy of it exists.
/// @throws Error(unsupported) that says why the device is not available.
PENSTOCK_API std::shared_ptr<MemoryResource> pinned_memory(Device device);

}  // namespace penstock
