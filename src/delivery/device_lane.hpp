// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/trace.hpp"
#include "delivery/device_ring.hpp"
#include "delivery/device_rows.hpp"
#include "delivery/device_stages.hpp"
#include "delivery/timed_work.hpp"
#include "ring/memory_plan.hpp"

namespace penstock::detail::runtime {

/// What carries batches to one device: its copy stream, the stages after `batch`, and an event per buffer of the
/// engine, recorded after the buffer was read. The submitter, the reaper and the caller's thread use it. The callers
/// of `enqueue`, `wait_until_read` and `was_read` must have entered the device.
class DeviceLane {
 public:
  /// Carries part `number` of each batch of `ring`. `buffers`: number of the engine's buffers. `whole`: their layout.
  /// `plan`: limits a batch's bytes for fields whose rows differ in size, and for decoded images. `trace`: the run's
  /// timeline; null: no timeline is kept. Enters the device. @throws Error(out_of_memory | device).
  DeviceLane(DeviceRing& ring, std::size_t number, const BatchLayout& whole, std::size_t buffers,
             const MemoryPlan& plan, Trace* trace);
  DeviceLane(const DeviceLane&) = delete;
  DeviceLane& operator=(const DeviceLane&) = delete;
  /// Waits until the device no longer reads the engine's buffers. Enters the device.
  ~DeviceLane();

  DeviceModel& device() const noexcept { return device_; }
  /// Begins to time how long the stream waits for the next batch. Does nothing for the host's stream. The stream must
  /// not be captured. Called by the caller's thread. Enters the device.
  void ask(StreamRef stream) noexcept;
  /// Makes the stream of the last `ask` wait for this device's part. For the host's stream, blocks the calling thread
  /// until the part is ready. Called by the caller's thread. Enters the device. @throws Error(device).
  void arrive(DeviceBatch& batch, StreamRef stream);
  /// Enqueues all work that makes this device's part of `to` from the engine's buffer `buffer`, whose memory is `from`.
  /// Everything in `to` except the fields' values must be set.
  /// @throws Error(out_of_memory | device), or whatever a stage throws.
  void enqueue(const std::byte* from, std::size_t buffer, DeviceBatch& to);
  /// Waits on the host until the device has read the engine's buffer. The reaper calls this, after the `enqueue` of the
  /// buffer.
  void wait_until_read(std::size_t buffer) const;
  /// Returns whether the device has read the engine's buffer. The reaper calls this, after the `enqueue` of the buffer.
  bool was_read(std::size_t buffer) const;
  /// Waits until all work of this lane has ended, and forgets it. Call after a failure. Enters the device. @throws
  /// Error(device).
  void recover();

  /// Any thread may call this.
  DeviceCounts counts() const;
  /// Sets the report's facts about the device. `depth`: number of batches on the device.
  void describe(Report& report, std::size_t depth) const;

 private:
  void begin_copies(StreamRef copies) noexcept;
  void wait_for_users(const DevicePart& part, StreamRef stream) const;
  std::size_t copy(std::byte* to, const std::byte* from, const DevicePart& part, std::uint64_t rows) const;

  DeviceRing& ring_;
  DeviceModel& device_;
  const std::size_t number_;
  const BatchLayout& whole_;
  // Lines of a timeline, for the submitter and for the reaper; null: no timeline is kept.
  TraceLine *enqueues_ = nullptr, *waits_ = nullptr;
  std::optional<DeviceStages> prep_;  // set if there are stages after `batch`
  std::optional<DeviceRows> rows_;    // set if fields have rows that differ in size
  std::unique_ptr<DeviceModel::Stream> copies_;
  // One event per buffer of the engine, recorded after the buffer was read.
  std::vector<std::unique_ptr<DeviceModel::Event>> copied_;
  TimedWork copies_time_, stages_time_, place_time_;
  TimedWork starved_time_;  // begun and ended only by the caller's thread
};

}  // namespace penstock::detail::runtime
