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

/// Where memory lies: on the host; there, pinned, so that a device reads it by itself; on a device.
enum class MemoryKind : std::uint8_t { host, pinned, device };
/// "host", "pinned", "device".
PENSTOCK_API std::string_view to_string(MemoryKind kind) noexcept;

/// Where bytes come from. Any thread. Must outlive everything allocated from it.
class PENSTOCK_API MemoryResource {
 public:
  virtual ~MemoryResource() = default;
  /// `align` is a power of two. @throws Error(out_of_memory) that says how much was asked for and what to lower.
  virtual void* allocate(std::size_t bytes, std::size_t align) = 0;
  /// Gives back what `allocate` gave, with the same numbers.
  virtual void deallocate(void* data, std::size_t bytes, std::size_t align) noexcept = 0;
  /// What kind of memory it is.
  virtual MemoryKind kind() const noexcept = 0;
};

/// The process's ordinary memory. Lives as long as the program.
PENSTOCK_API MemoryResource& host_memory() noexcept;

/// Refuses what would exceed a limit; what it refuses does not count, so a large request can't make a small one fail.
class PENSTOCK_API LimitResource final : public MemoryResource {
 public:
  /// Takes memory from `upstream`, which must outlive it; at most `limit_bytes` are in use at once.
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

/// A device's own memory, from a pool of penstock's: what loaders take their batches from. Under a LimitResource it is
/// a limit that several loaders share (`LoaderOptions::device_resource`). Of the host: its memory. Any thread; the
/// device stays open as long as it is kept. @throws Error(unsupported) that says why there is no such device.
PENSTOCK_API std::shared_ptr<MemoryResource> device_memory(Device device);

/// Memory of the host that the device reads by itself: what loaders for it take their batch buffers from. Any thread;
/// the device stays open as long as it is kept. @throws Error(unsupported) that says why there is no such device.
PENSTOCK_API std::shared_ptr<MemoryResource> pinned_memory(Device device);

}  // namespace penstock
