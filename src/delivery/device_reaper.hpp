// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "delivery/device_entry.hpp"
#include "delivery/device_lane.hpp"
#include "delivery/device_ring.hpp"
#include "engine/engine.hpp"

namespace penstock::detail::runtime {

/// A buffer of the engine that devices read.
struct SentBuffer {
  BatchBuffer* buffer;
  std::size_t number;  ///< number in the engine's ring
};

/// The thread that returns the engine's buffers once all devices have read them, in the order in which they were sent.
/// Call everything under the ring's mutex, unless a comment says otherwise.
class DeviceReaper {
 public:
  using Lanes = std::vector<std::unique_ptr<DeviceLane>>;
  using Lock = DeviceRing::Lock;

  /// The arguments must outlive it. Call without the lock.
  DeviceReaper(DeviceRing& ring, Engine& engine, const Lanes& lanes);
  DeviceReaper(const DeviceReaper&) = delete;
  DeviceReaper& operator=(const DeviceReaper&) = delete;
  /// Starts the thread if it is not running. Call without the lock. @throws std::system_error.
  void begin();
  /// Ends the thread after the sent buffers are read, or immediately after a failure of the devices. Call without the
  /// lock.
  void join() noexcept;

  /// Adds a buffer: everything that a device needs to read it is on its stream.
  void sent(const Lock&, const SentBuffer& buffer) noexcept { sent_.push_back(buffer); }
  /// Notes that the device failed, perhaps before all work on `buffer` was enqueued. It is not used before `recovered`.
  void sent_in_part(const Lock&, const SentBuffer& buffer) noexcept;
  /// Returns how many buffers were not given back so far.
  std::size_t reading(const Lock&) const noexcept { return sent_.size(); }
  bool failed(const Lock&) const noexcept { return failed_; }
  /// Returns whether the thread waits for a device that failed.
  bool stuck(const Lock&) const noexcept { return busy_ && failed_; }
  /// Gives back all buffers. Call when the devices are idle.
  void recovered(const Lock&) noexcept;
  void close(const Lock&) noexcept { closing_ = true; }

 private:
  void run() noexcept;
  void give_back_read(Lock& lock, DeviceEntry& entry);
  bool can_ask() const noexcept { return !sent_.empty() && !failed_; }

  DeviceRing& ring_;
  Engine& engine_;
  const Lanes& lanes_;
  std::vector<SentBuffer> sent_;  // oldest first
  // The buffers of `sent_` that are being checked; only the thread uses it. Neither grows beyond its reserve.
  std::vector<SentBuffer> asked_;
  bool busy_ = false, failed_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace penstock::detail::runtime
