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
    late,     ///< nothing is done before somebody waits for it: what is used too early is found every time
    threaded  ///< a thread a stream: for races, and for what takes time
  };
  /// Calls of the device that fail.
  struct Fault {
    /// A `count` that means the call and all after it.
    static constexpr std::uint64_t for_ever = ~std::uint64_t{0};
    std::uint64_t call = 0;   ///< the first, counted from 1; 0 = none
    std::uint64_t count = 1;  ///< how many, one after the other
  };
  /// When work on a stream is done.
  Mode mode = Mode::threaded;
  bool checked = false;            ///< find what no event orders, also where it went well; what the host waited for is
                                   ///< ordered for all of its threads
  std::uint64_t seed = 0;          ///< seed of the order of steps, or of delays; 0 in `late`: as late as can be
  std::uint32_t max_delay_us = 0;  ///< threaded: microseconds before each step, at most
  /// Threaded: no copy to or from the device's memory is faster than this, bytes per second, as over a slow link; 0 =
  /// no limit.
  std::uint64_t max_copy_bytes_per_s = 0;
  std::size_t max_device_bytes = 0;  ///< hard limit of the device's memory, bytes; 0 = none
  /// Hard limit of its pinned memory, bytes; 0 = none.
  std::size_t max_pinned_bytes = 0;
  /// Memory can't be pinned, as where the system forbids it: loaders go on with ordinary memory.
  bool refuses_to_pin = false;
  /// Calls that fail; none by default.
  Fault fault = {};
};

/// A GPU that the host emulates: streams and events with real asynchrony, memory with hard limits that is 0xCD before
/// it is written. Loaders take it like any other (`{.device = gpu.device()}`), so a training loop's use of batches and
/// streams can be tried, and tested, where there is no GPU. Any thread. Loaders and streams keep what they need of it.
class PENSTOCK_API EmulatedGpu {
 public:
  /// @throws Error(out_of_memory) where a thread can't be started.
  explicit EmulatedGpu(const EmulatedGpuOptions& options = {});
  EmulatedGpu(EmulatedGpu&&) noexcept;
  EmulatedGpu& operator=(EmulatedGpu&&) noexcept;
  ~EmulatedGpu();

  /// The device, which is no other EmulatedGpu's, ever.
  Device device() const noexcept;

  /// A stream of a user's. Move-only; destroyed once what is on it is done.
  class PENSTOCK_API Stream {
   public:
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();
    /// The stream, to give to a loader.
    StreamRef ref() const noexcept;
    /// A kernel: `work` runs when the stream comes to it. An exception of its own fails the device for good, as a
    /// kernel's trap does; it must neither call the device nor wait for the host. `uses` is what `checked` looks at.
    /// @throws Error(device).
    void launch(const char* name, std::function<void()> work, std::initializer_list<MemoryUse> uses = {});
    /// Returns once all that is on it is done. @throws Error(device).
    void synchronize();
    /// From now on the stream is captured into a graph, as `cudaStreamBeginCapture` has it: work that is launched on it
    /// is noted, and never runs. @throws Error(invalid_argument) where it is captured already.
    void begin_capture();
    /// Ends the capture. Returns how many pieces of work were captured. @throws Error(device) where the graph was
    /// spoilt, by an event of a loader's for instance; Error(invalid_argument) where the stream was not captured.
    std::size_t end_capture();

   private:
    friend class EmulatedGpu;
    struct Own;
    explicit Stream(std::unique_ptr<Own> own) noexcept;
    std::unique_ptr<Own> own_;
  };
  /// A new stream, called `name` in findings and errors. @throws Error(device).
  Stream make_stream(const char* name);

  /// Calls so far that may fail: what `Fault::call` counts. How many a loader's threads make is a matter of timing.
  std::uint64_t calls() const;
  /// What `checked` has found, a sentence each.
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
