// SPDX-License-Identifier: Apache-2.0
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

/// The way of batches to one device: its copy stream, the stages after `batch`, and an event per buffer of the engine,
/// recorded after the buffer was read. The loader's two threads use it, and the thread that closes the loader. The
/// caller has entered the device, unless a comment says otherwise.
class DeviceLane {
 public:
  /// For part `number` of each batch of `ring`. `buffers`: number of the engine's buffers, which have layout `whole`.
  /// `plan`: bytes of a batch for fields of any size, and for decoded images. `trace`: the run's timeline; null: none
  /// is kept. Enters the device. @throws Error(out_of_memory | device).
  DeviceLane(DeviceRing& ring, std::size_t number, const BatchLayout& whole, std::size_t buffers,
             const MemoryPlan& plan, Trace* trace);
  DeviceLane(const DeviceLane&) = delete;
  DeviceLane& operator=(const DeviceLane&) = delete;
  /// Waits until nothing reads the engine's buffers any more. Enters the device.
  ~DeviceLane();

  DeviceModel& device() const noexcept { return device_; }
  /// Notes that the caller asks for a batch on its stream, which is not being captured. The caller's thread.
  void ask(StreamRef stream) noexcept;
  /// Makes the stream wait for this device's part, which it asked for. The caller's thread. @throws Error(device).
  void arrive(DeviceBatch& batch, StreamRef stream);
  /// Enqueues everything between the engine's buffer `buffer`, with memory `from`, and this device's part of `to`. `to`
  /// must be complete except for its fields. @throws Error(device), or what a stage throws.
  void enqueue(const std::byte* from, std::size_t buffer, DeviceBatch& to);
  /// Waits on the host until the engine's buffer was read. Call after `enqueue` of that buffer, from a different
  /// thread.
  void wait_until_read(std::size_t buffer) const;
  /// Returns whether it was read, without waiting. Threads as for `wait_until_read`.
  bool was_read(std::size_t buffer) const;
  /// Waits, after a failure, until the device is idle. Enters the device. @throws Error(device).
  void recover();

  /// Any thread.
  DeviceCounts counts() const;
  /// Sets the report's facts about the device. `depth`: number of batches there.
  void describe(Report& report, std::size_t depth) const;

 private:
  void begin_copies(StreamRef copies) noexcept;
  void wait_for_users(const DevicePart& part, StreamRef stream) const;
  std::size_t copy(std::byte* to, const std::byte* from, const DevicePart& part, std::uint64_t rows) const;

  DeviceRing& ring_;
  DeviceModel& device_;
  const std::size_t number_;
  const BatchLayout& whole_;
  TraceLine *enqueues_ = nullptr, *waits_ = nullptr;  // lines of a timeline, one for each of the two threads
  std::optional<DevicePrep> prep_;                    // if there are stages after `batch`
  std::optional<DeviceRows> rows_;                    // if there are fields of any size
  std::unique_ptr<DeviceModel::Stream> copies_;
  // An event per buffer of the engine, recorded after its copies.
  std::vector<std::unique_ptr<DeviceModel::Event>> copied_;
  TimedWork copies_time_, stages_time_, place_time_;
  TimedWork starved_time_;  // the caller's thread only
};

}  // namespace penstock::detail::runtime
