// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "delivery/device_lane.hpp"
#include "delivery/device_ring.hpp"
#include "delivery/device_scope.hpp"
#include "engine/engine.hpp"

namespace penstock::detail::runtime {

/// A buffer of the engine that was sent to devices.
struct SentBuffer {
  BatchBuffer* buffer;
  std::size_t number;  ///< number in the engine's ring
};

/// The thread that releases the engine's buffers after all devices have read them, in the order in which they were
/// sent. Call all functions under the ring's mutex, unless a comment says "without the lock".
class DeviceReaper {
 public:
  using Lanes = std::vector<std::unique_ptr<DeviceLane>>;
  using Lock = DeviceRing::Lock;

  /// The arguments must outlive this object. Call without the lock.
  DeviceReaper(DeviceRing& ring, Engine& engine, const Lanes& lanes);
  DeviceReaper(const DeviceReaper&) = delete;
  DeviceReaper& operator=(const DeviceReaper&) = delete;
  /// Starts the thread if it is not running. Call without the lock. @throws std::system_error.
  void begin();
  /// Waits for the thread's end. After `close`, the thread ends when all sent buffers were read, or when a device has
  /// failed. Call without the lock.
  void join() noexcept;

  /// Adds a buffer. All work that reads the buffer must already be enqueued.
  void sent(const Lock&, const SentBuffer& buffer) noexcept { sent_.push_back(buffer); }
  /// Notes that a device failed, perhaps before all work that reads `buffer` was enqueued. The buffer is not released
  /// before `recovered`.
  void sent_in_part(const Lock&, const SentBuffer& buffer) noexcept;
  /// Returns how many sent buffers were not released yet.
  std::size_t reading(const Lock&) const noexcept { return sent_.size(); }
  bool failed(const Lock&) const noexcept { return failed_; }
  /// Returns whether the thread is still in calls to devices after a failure.
  bool stuck(const Lock&) const noexcept { return busy_ && failed_; }
  /// Releases all sent buffers and ends the state of failure. Call when all work that reads these buffers
  /// has ended.
  void recovered(const Lock&) noexcept;
  void close(const Lock&) noexcept { closing_ = true; }

 private:
  void run() noexcept;
  void give_back_read(Lock& lock, DeviceScope& entry);
  bool can_ask() const noexcept { return !sent_.empty() && !failed_; }

  DeviceRing& ring_;
  Engine& engine_;
  const Lanes& lanes_;
  std::vector<SentBuffer> sent_;  // oldest first
  // The buffers of `sent_` that are being checked. Only the thread uses it. Like `sent_`, it never has more elements
  // than were reserved.
  std::vector<SentBuffer> asked_;
  bool busy_ = false, failed_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace penstock::detail::runtime
