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

/// A buffer of the engine's that devices read.
struct SentBuffer {
  BatchBuffer* buffer;
  std::size_t number;  ///< number in the engine's ring
};

/// The thread that gives the engine's buffers back to it once all devices have read them, in the order they were sent.
/// What is not said to be otherwise is under the ring's mutex.
class DeviceReaper {
 public:
  using Lanes = std::vector<std::unique_ptr<DeviceLane>>;
  using Lock = DeviceRing::Lock;

  /// These outlive it. Without the lock.
  DeviceReaper(DeviceRing& ring, Engine& engine, const Lanes& lanes);
  DeviceReaper(const DeviceReaper&) = delete;
  DeviceReaper& operator=(const DeviceReaper&) = delete;
  /// Without the lock. Begins the thread, where it does not run. @throws std::system_error.
  void begin();
  /// Without the lock. Ends the thread after what was sent is read; the devices' failure ends it at once.
  void join() noexcept;

  /// All that is needed for a device to read it is on its stream.
  void sent(const Lock&, const SentBuffer& buffer) noexcept { sent_.push_back(buffer); }
  /// The device failed, perhaps before it had all of `buffer` in work: nothing is asked of it before `recovered`.
  void sent_in_part(const Lock&, const SentBuffer& buffer) noexcept;
  /// Buffers that were not given back.
  std::size_t reading(const Lock&) const noexcept { return sent_.size(); }
  bool failed(const Lock&) const noexcept { return failed_; }
  /// It waits for a device that failed.
  bool stuck(const Lock&) const noexcept { return busy_ && failed_; }
  /// The devices do nothing any more: all buffers are given back.
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
  // Those of `sent_` that are asked; the thread's own. Neither grows beyond what is reserved.
  std::vector<SentBuffer> asked_;
  bool busy_ = false, failed_ = false, closing_ = false;
  std::thread thread_;
};

}  // namespace penstock::detail::runtime
