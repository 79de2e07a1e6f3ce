// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/emulated_gpu.hpp>

#include "device/device_model.hpp"
#include "emulated_streams.hpp"
#include "race_detector.hpp"

namespace penstock::detail {

using EmulatedOptions = EmulatedGpuOptions;

/// A device that the host emulates. Its streams and events are really asynchronous, and its memory has limits. New
/// memory is filled with 0xCD, so that it does not look like a right result. With this device, all code that uses
/// `DeviceModel` is tested on machines without a GPU. Every call that can fail can be made to fail.
class EmulatedDevice final : public DeviceModel {
 public:
  explicit EmulatedDevice(Device device, const EmulatedOptions& options = {});
  ~EmulatedDevice() override;

  Device device() const noexcept override { return device_; }
  std::string name() const override;
  int enter() override;
  void leave(int) noexcept override;
  MemoryResource& device_memory() noexcept override;
  MemoryResource& pinned_memory() noexcept override;
  std::unique_ptr<Stream> make_stream(const char* name, Priority priority) override;
  std::unique_ptr<Event> make_event() override;
  /// Returns null in `Mode::late`. In this mode, the time at which work is done depends on the host's calls, so
  /// measured times would mean nothing.
  std::unique_ptr<Timer> make_timer() override;
  void copy(void* to, const void* from, std::size_t bytes, StreamRef stream) override;
  void record(Event& event, StreamRef stream) override;
  void wait(StreamRef stream, const Event& event) override;
  void synchronize(const Event& event) override;
  void synchronize(StreamRef stream) override;
  bool reached(const Event& event) override;
  bool settle() noexcept override;
  bool captures(StreamRef stream) override;
  void host_reads(const void* data, std::size_t bytes) override;
  void host_writes(const void* data, std::size_t bytes) override;

  /// Enqueues a kernel: `work` runs when the stream reaches it. If `work` throws, the device fails permanently, as a
  /// GPU does after a kernel's trap.
  void launch(StreamRef stream, const char* name, std::function<void()> work,
              std::initializer_list<MemoryUse> uses = {});
  void launch_on_host(StreamRef stream, const char* name, std::function<void()> work,
                      std::initializer_list<MemoryUse> uses) override {
    launch(stream, name, std::move(work), uses);
  }

  /// See the members of EmulatedGpu::Stream with the same names.
  void begin_capture(StreamRef stream);
  std::size_t end_capture(StreamRef stream);

  /// Returns the number of calls so far, without calls that can't fail. `EmulatedOptions::Fault::call` counts the same
  /// calls.
  std::uint64_t calls() const;
  /// Returns the bytes of this kind of memory that are in use.
  std::size_t used(MemoryKind kind) const noexcept;
  /// Returns what the checks have found, one sentence per finding. A wait for an event that was never recorded is a
  /// finding too. Empty without `EmulatedOptions::checked`.
  std::vector<std::string> findings() const;

 private:
  class Memory;
  class OwnStream;
  struct OwnEvent;
  class OwnTimer;
  struct StreamState;

  StreamState& state_of(StreamRef stream) const;
  static bool spoils(StreamState& stream, const char* what) noexcept;
  void call(const char* what);
  void fail(const char* what, const char* why) noexcept;
  std::shared_ptr<StreamPoint> put_point(StreamState& stream);
  void put_work(StreamState& stream, const char* name, std::function<void()> work,
                std::initializer_list<MemoryUse> uses);
  void put_time(StreamRef stream, std::shared_ptr<std::atomic<std::uint64_t>> at);
  void reach(const std::shared_ptr<StreamPoint>& point);
  void finish(const StreamState& stream) noexcept;
  void drain() noexcept;

  const Device device_;
  const EmulatedOptions options_;
  mutable std::mutex mutex_;  // held during a call; not held while the host waits
  std::uint64_t calls_ = 0;
  std::optional<RaceDetector> orders_;
  std::vector<StreamState*> open_;  // existing streams, in the order in which they were made
  std::uint64_t begun_ = 0;         // streams made so far
  std::mutex failed_mutex_;
  std::string failed_;  // why the device has failed
  std::atomic<bool> has_failed_{false};
  std::unique_ptr<Memory> device_memory_, pinned_memory_;
  std::unique_ptr<EmulatedStreams>
      streams_;  // the last member, so that its threads end before other members are destroyed
};

}  // namespace penstock::detail
