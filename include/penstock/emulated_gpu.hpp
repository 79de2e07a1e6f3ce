// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/device.hpp>
#include <penstock/memory.hpp>

namespace penstock {

namespace detail {
class EmulatedDevice;
}

/// Settings of an EmulatedGpu.
struct EmulatedGpuOptions {
  /// When work on a stream is done.
  enum class Mode : std::uint8_t {
    /// Only when something waits for it. If `seed` is not 0, random steps are done earlier. Finds uses of memory that
    /// come too early.
    late,
    /// Soon, on a thread of the stream's own. For races, and for work that takes time.
    threaded
  };
  /// Which calls of the device fail.
  struct Fault {
    /// A value of `count`: the call `call` and all calls after it fail.
    static constexpr std::uint64_t for_ever = ~std::uint64_t{0};
    std::uint64_t call = 0;   ///< first call that fails, counted from 1. Default (0): none
    std::uint64_t count = 1;  ///< number of consecutive calls that fail
  };
  /// When work on a stream is done.
  Mode mode = Mode::threaded;
  /// Reports each pair of accesses to the same memory that no event puts in order, if at least one of the two is a
  /// write. Pairs that did no harm are reported too. Work that one thread of the host has waited for counts as done for
  /// all threads of the host.
  /// Default: false.
  bool checked = false;
  /// `late`: if the seed is not 0, random steps are done earlier, so the order of steps depends on the seed.
  /// `threaded`: seed of the random delays. Default (0): in `late`, every step is done as late as possible.
  std::uint64_t seed = 0;
  /// `threaded`: largest delay before each step, in microseconds. Default: 0.
  std::uint32_t max_delay_us = 0;
  /// Limit for the speed of each copy between the host and the device, in bytes per second, to emulate a slow link.
  /// Copies inside the device's memory have no limit. Default (0): no limit.
  std::uint64_t max_copy_bytes_per_s = 0;
  /// Hard limit in bytes of the device's memory. Default (0): no limit.
  std::size_t max_device_bytes = 0;
  /// Hard limit in bytes of pinned memory. Default (0): no limit.
  std::size_t max_pinned_bytes = 0;
  /// If true, memory can't be pinned, as if the system forbade it. Loaders then use ordinary memory. Default: false.
  bool refuses_to_pin = false;
  /// Which calls fail. Default: none.
  Fault fault = {};
};

/// A GPU that the host emulates. Its streams and events are asynchronous like those of a GPU, its memory has hard
/// limits, and each byte of its memory is 0xCD until it is written. Loaders use it like any device (`{.device =
/// gpu.device()}`). So a training loop's use of batches and streams can be tested on a machine without a GPU. Any
/// thread. Loaders and streams keep alive what they need of the device.
class PENSTOCK_API EmulatedGpu {
 public:
  /// Makes a device with these settings. @throws Error(out_of_memory) if a thread can't be started.
  explicit EmulatedGpu(const EmulatedGpuOptions& options = {});
  EmulatedGpu(EmulatedGpu&&) noexcept;
  EmulatedGpu& operator=(EmulatedGpu&&) noexcept;
  ~EmulatedGpu();

  /// The device. No other EmulatedGpu ever has the same device.
  Device device() const noexcept;

  /// A user's stream. Move-only. The destructor waits until the stream's work is done.
  class PENSTOCK_API Stream {
   public:
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();
    /// The stream, as loaders take it.
    StreamRef ref() const noexcept;
    /// Launches a kernel: `work` runs when the stream reaches it. If `work` throws, the device fails permanently, like
    /// after a kernel's trap. `work` must neither call the device nor wait for the host. `uses` is the memory that
    /// `work` uses, for `checked`.
    /// @throws Error(device) if the call fails.
    void launch(const char* name, std::function<void()> work, std::initializer_list<MemoryUse> uses = {});
    /// Waits until all work on the stream is done. @throws Error(device) if the call fails.
    void synchronize();
    /// Begins to capture the stream into a graph, like `cudaStreamBeginCapture`. Work that is launched on the stream
    /// during the capture is only counted, and never runs. @throws Error(invalid_argument) if the stream is already
    /// being captured.
    void begin_capture();
    /// Ends the capture. Returns how many pieces of work were captured.
    /// @throws Error(device) if the graph was spoilt, by an event of a loader for instance; Error(invalid_argument) if
    /// the stream was not being captured.
    std::size_t end_capture();

   private:
    friend class EmulatedGpu;
    struct Own;
    explicit Stream(std::unique_ptr<Own> own) noexcept;
    std::unique_ptr<Own> own_;
  };
  /// Makes a stream that findings and errors call `name`. @throws Error(device) if the call fails.
  Stream make_stream(const char* name);

  /// Number of calls so far, without calls that can't fail. `Fault::call` counts the same calls. The number of calls
  /// from a loader's threads depends on timing.
  std::uint64_t calls() const;
  /// What `checked` has found, one sentence per finding.
  std::vector<std::string> findings() const;
  /// Bytes of the device's memory in use.
  std::size_t device_bytes_used() const noexcept;
  /// Bytes of pinned memory in use.
  std::size_t pinned_bytes_used() const noexcept;

 private:
  int index_;
  int pid_;
  std::shared_ptr<detail::EmulatedDevice> device_;
};

}  // namespace penstock
