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

/// What the engine needs of a device, one to one with the CUDA runtime's calls, so that all that can go wrong in an
/// order of calls is above it. Implementations: `cuda/`, and `emulated/`, which needs no GPU.
///
/// Any thread that has entered. Every call but those that are noexcept may throw Error(device | out_of_memory).
/// What is enqueued on a stream runs in the order in which it was enqueued, at any later time; between streams, and
/// between a stream and the host, nothing is ordered but by events, and by a call that synchronizes.
class DeviceModel {
 public:
  /// A stream of our own; those of a consumer come as `StreamRef` alone. Destroyed once what is on it is done.
  class Stream {
   public:
    virtual ~Stream() = default;
    virtual StreamRef ref() const noexcept = 0;
  };
  /// A point on a stream. Recorded again, it is another point; what waits for the earlier one still does.
  class Event {
   public:
    virtual ~Event() = default;
  };
  /// Time between two points of a stream, by the device's own clock. It orders nothing. One thread at a time.
  class Timer {
   public:
    virtual ~Timer() = default;
    /// The first point is what is on the stream now; once more, it is another one, and the second is not set.
    virtual void begin(StreamRef stream) = 0;
    /// The second point, on the same stream.
    virtual void end(StreamRef stream) = 0;
    /// Nanoseconds between them; none before the stream has come to the second one. It does not wait.
    virtual std::optional<std::uint64_t> read() = 0;
  };
  enum class Priority : std::uint8_t { normal, high };

  virtual ~DeviceModel() = default;
  virtual Device device() const noexcept = 0;
  /// The device in words, for the report.
  virtual std::string name() const = 0;
  /// It is the host: what it reads by itself and its own memory are the same.
  virtual bool is_host() const noexcept { return false; }
  /// Has the calling thread's other calls go to this device. Returns what `leave` is to have again. They nest, each
  /// `enter` with a `leave`; a thread that ends need not leave.
  virtual int enter() = 0;
  virtual void leave(int before) noexcept = 0;

  /// Memory on the device, and memory of the host that it reads without the host's help. Any thread. Either call may
  /// wait for everything that is enqueued. Whoever gives memory back has waited for what uses it.
  virtual MemoryResource& device_memory() noexcept = 0;
  virtual MemoryResource& pinned_memory() noexcept = 0;

  virtual std::unique_ptr<Stream> make_stream(const char* name, Priority priority) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;
  /// Null where the device keeps no time.
  virtual std::unique_ptr<Timer> make_timer() { return nullptr; }

  // -- enqueued: these return at once --
  /// Between pinned and device memory, or within either. Both must stay as they are until it is done.
  virtual void copy(void* to, const void* from, std::size_t bytes, StreamRef stream) = 0;
  /// Whatever is on the stream now is before the event.
  virtual void record(Event& event, StreamRef stream) = 0;
  /// What is enqueued from now on runs after the event, as it was recorded last. Of one that never was: at once.
  virtual void wait(StreamRef stream, const Event& event) = 0;

  /// Work of the host's, where the host does the device's work; it must neither wait nor call the device.
  /// @throws Error(unsupported) where it does not.
  virtual void launch_on_host(StreamRef stream, const char* name, std::function<void()> work,
                              std::initializer_list<MemoryUse> uses);

  // -- the host waits --
  /// Waits until the event, as it was recorded last; at once for one that never was.
  virtual void synchronize(const Event& event) = 0;
  virtual void synchronize(StreamRef stream) = 0;
  /// Waits until everything on the device is done, whoever's it is: for when it is not known what uses some memory.
  /// False while anybody captures a graph on it, which is spoilt. A device that failed has nothing in work.
  virtual bool settle() noexcept = 0;
  /// Whether an event is reached, without waiting for it.
  virtual bool reached(const Event& event) = 0;

  /// Whether the stream is being captured into a graph, where an event of ours must not go. To wait for such a stream
  /// is an error, and spoils the graph.
  virtual bool captures(StreamRef stream) = 0;

  /// The host is about to touch memory that a stream may use as well. Only a device that checks orders cares.
  virtual void host_reads(const void*, std::size_t) {}
  virtual void host_writes(const void*, std::size_t) {}
};

/// For the time of a block; afterwards the thread has again what it had chosen before.
class Entered {
 public:
  explicit Entered(DeviceModel& device) : device_(device), before_(device.enter()) {}
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered() { device_.leave(before_); }

 private:
  DeviceModel& device_;
  int before_;
};

}  // namespace penstock::detail
