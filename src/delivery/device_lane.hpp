#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/trace.hpp"
#include "delivery/device_prep.hpp"
#include "delivery/device_ring.hpp"
#include "delivery/device_rows.hpp"
#include "delivery/timed_work.hpp"
#include "ring/memory_plan.hpp"

namespace penstock::detail::runtime {

/// The way of batches to one device: its copy stream, the stages after `batch`, and an event for each of the engine's
/// buffers that is recorded where it was read. Used by a loader's two threads and by whoever closes it; the device is
/// entered already, but as said.
class DeviceLane {
 public:
  /// Part `number` of each batch of `ring`; the engine has so many buffers of that layout. Enters the device.
  /// @throws Error(out_of_memory | device).
  /// `plan`: bytes of a batch for fields of any size, and for decoded images. `trace`: the run's; null: none is kept.
  DeviceLane(DeviceRing& ring, std::size_t number, const BatchLayout& whole, std::size_t buffers,
             const MemoryPlan& plan, Trace* trace);
  DeviceLane(const DeviceLane&) = delete;
  DeviceLane& operator=(const DeviceLane&) = delete;
  /// Waits until nothing reads the engine's buffers any more. Enters the device.
  ~DeviceLane();

  DeviceModel& device() const noexcept { return device_; }
  /// The caller asks for a batch on its stream, which is not being captured. Its thread.
  void ask(StreamRef stream) noexcept;
  /// Has the stream wait for this device's part, which it asked for. The same. @throws Error(device).
  void arrive(DeviceBatch& batch, StreamRef stream);
  /// Enqueues all between the engine's buffer `buffer`, whose memory is `from`, and this device's part of `to`, of
  /// which everything but its fields is there. @throws Error(device), or what a stage throws.
  void enqueue(const std::byte* from, std::size_t buffer, DeviceBatch& to);
  /// The host waits until the engine's buffer was read. Another thread than `enqueue`'s, which enqueued it before.
  void wait_until_read(std::size_t buffer) const;
  /// Whether it was, without waiting. The same.
  bool was_read(std::size_t buffer) const;
  /// After a failure: waits until nothing is in work. Enters the device. @throws Error(device).
  void recover();

  /// Any thread.
  DeviceCounts counts() const;
  /// So many batches are there.
  void describe(Report& report, std::size_t depth) const;

 private:
  void begin_copies(StreamRef copies) noexcept;
  void wait_for_users(const DevicePart& part, StreamRef stream) const;
  std::size_t copy(std::byte* to, const std::byte* from, const DevicePart& part, std::uint64_t rows) const;

  DeviceRing& ring_;
  DeviceModel& device_;
  const std::size_t number_;
  const BatchLayout& whole_;
  TraceLine *enqueues_ = nullptr, *waits_ = nullptr;  // lines of a timeline, for each of the two threads
  std::optional<DevicePrep> prep_;                    // where there are stages after `batch`
  std::optional<DeviceRows> rows_;                    // where there are fields of any size
  std::unique_ptr<DeviceModel::Stream> copies_;
  // For each of the engine's buffers, an event after its copies.
  std::vector<std::unique_ptr<DeviceModel::Event>> copied_;
  TimedWork copies_time_, stages_time_, place_time_;
  TimedWork starved_time_;  // the caller's
};

}  // namespace penstock::detail::runtime
