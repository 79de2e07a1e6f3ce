// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include <penstock/device.hpp>
#include <penstock/memory.hpp>

namespace penstock::detail {

/// What the engine needs of a device. Each call matches one call of the CUDA runtime. So the code that uses the model
/// is responsible for the order of calls, and can be tested without a GPU. Implementations: `cuda/`, and `emulated/`,
/// which needs no GPU.
///
/// Any thread that has called `enter` may use a model. Every call may throw Error(device | out_of_memory), unless it is
/// noexcept. Work on a stream runs in the order in which it was enqueued, at any later time. Between streams, and
/// between a stream and the host, only events and synchronizing calls order work.
class DeviceModel {
 public:
  /// A stream of the engine. A consumer's streams are only known as `StreamRef`. A Stream's destructor waits until all
  /// work on the stream is done.
  class Stream {
   public:
    virtual ~Stream() = default;
    virtual StreamRef ref() const noexcept = 0;
  };
  /// A point on a stream. Recording the event again moves it to a later point. Work that waits for the earlier point
  /// still waits for the earlier point.
  class Event {
   public:
    virtual ~Event() = default;
  };
  /// Measures the time between two points of a stream, by the device's own clock. A timer orders no work. One thread at
  /// a time uses it.
  class Timer {
   public:
    virtual ~Timer() = default;
    /// Sets the first point, after all work that is on the stream now. Calling it again moves the first point and
    /// clears the second.
    virtual void begin(StreamRef stream) = 0;
    /// Sets the second point, on the same stream.
    virtual void end(StreamRef stream) = 0;
    /// Returns the nanoseconds between the points. Returns none if the stream has not reached the second point. Does
    /// not wait.
    virtual std::optional<std::uint64_t> read() = 0;
  };
  enum class Priority : std::uint8_t { normal, high };

  virtual ~DeviceModel() = default;
  virtual Device device() const noexcept = 0;
  /// Returns the device in words, for the report.
  virtual std::string name() const = 0;
  /// Returns whether the device is the host. Then `device_memory()` and `pinned_memory()` are the same.
  virtual bool is_host() const noexcept { return false; }
  /// Directs the calling thread's other calls to this device. Returns the argument for `leave`. Calls nest: each
  /// `enter` has its `leave`. A thread that ends need not call `leave`.
  virtual int enter() = 0;
  virtual void leave(int before) noexcept = 0;

  /// Return the resources for memory on the device, and for pinned memory of the host. The device reads pinned memory
  /// by itself. Any thread may use both resources. Allocating and freeing may wait for everything that is enqueued.
  /// REQUIRES: the caller has waited for all work on memory that it frees.
  virtual MemoryResource& device_memory() noexcept = 0;
  virtual MemoryResource& pinned_memory() noexcept = 0;

  virtual std::unique_ptr<Stream> make_stream(const char* name, Priority priority) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  /// Returns null if the device measures no time.
  virtual std::unique_ptr<Timer> make_timer() { return nullptr; }

  // -- calls that enqueue work and return immediately --
  /// Copies between pinned and device memory, or within either. Neither memory may be changed or freed until the copy
  /// is done.
  virtual void copy(void* to, const void* from, std::size_t bytes, StreamRef stream) = 0;
  /// Moves the event to the point after all work that is on the stream now.
  virtual void record(Event& event, StreamRef stream) = 0;
  /// Makes work that is enqueued on `stream` after this call wait for the event's last recorded point. Does nothing if
  /// the event was never recorded.
  virtual void wait(StreamRef stream, const Event& event) = 0;

  /// Enqueues `work` for the host to run, on a device whose work the host does. `work` must neither wait nor call the
  /// device.
  /// @throws Error(unsupported) if the host does not do the device's work.
  virtual void launch_on_host(StreamRef stream, const char* name, std::function<void()> work,
                              std::initializer_list<MemoryUse> uses);

  // -- calls for which the host waits --
  /// Waits for the event's last recorded point. Returns immediately if the event was never recorded.
  virtual void synchronize(const Event& event) = 0;
  virtual void synchronize(StreamRef stream) = 0;
  /// Waits until all work on the device is done, including work of other code. This is for memory whose users are not
  /// known. Returns false if a graph is being captured on the device; the capture is spoilt then. Does not wait for a
  /// device that has failed.
  virtual bool settle() noexcept = 0;
  /// Returns whether the event's last recorded point is reached, without waiting for it. Returns true if the event was
  /// never recorded.
  virtual bool reached(const Event& event) = 0;

  /// Returns whether the stream is being captured into a graph. The engine must not record events on such a stream.
  /// Waiting for such a stream is an error, and spoils the graph.
  virtual bool captures(StreamRef stream) = 0;

  /// Report that the host is about to read or write memory that a stream may use too. Only an emulated device that
  /// checks the order of accesses uses these reports.
  virtual void host_reads(const void*, std::size_t) {}
  virtual void host_writes(const void*, std::size_t) {}
};

/// Enters a device for a block of code. Afterwards the thread has its previous device again.
class DeviceGuard {
 public:
  explicit DeviceGuard(DeviceModel& device) : device_(device), before_(device.enter()) {}
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() { device_.leave(before_); }

 private:
  DeviceModel& device_;
  int before_;
};

}  // namespace penstock::detail
