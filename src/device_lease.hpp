#pragma once

#include <unistd.h>

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "device_ring.hpp"
#include "lease.hpp"

namespace penstock::detail {

/// @throws Error(invalid_argument | unsupported) for a stream that batches of this device can't be used on.
inline void check_device_stream(DeviceModel& device, StreamRef stream) {
  if (stream.device() == host()) return;
  if (stream.device() != device.device())
    throw Error(Errc::invalid_argument,
                "a stream of " + to_string(stream.device()) + " for batches on " + to_string(device.device()));
  const Entered entered(device);
  if (device.captures(stream))
    throw Error(Errc::unsupported,
                "the stream is being captured into a graph, which would repeat this batch for ever; take batches "
                "outside of the capture");
}

/// A batch on a device in somebody's hands.
class DeviceLease final : public Lease {
 public:
  explicit DeviceLease(std::shared_ptr<DeviceRing> ring)
      : Lease(ring->data(), ring->layout()), ring_(std::move(ring)), pid_(::getpid()) {
    streams_.reserve(1);
  }
  ~DeviceLease() override {
    if (slot_ == nullptr) return;
    // In a forked child the mutex may be held by a thread that does not exist there, and the device is not ours.
    if (::getpid() == pid_) {
      ring_->give_back(*slot_, streams_);
    } else {
      static_cast<void>(new (std::nothrow) std::shared_ptr<DeviceRing>(std::move(ring_)));
    }
  }

  /// The host's stream: whoever has the batch has nothing in work on the device.
  void take(DeviceSlot& slot, StreamRef stream) noexcept {
    if (stream.device() != host()) streams_.push_back(stream);
    slot_ = &slot;
    hold(slot, slot.data);
  }
  Device device() const noexcept override { return ring_->device().device(); }
  void also_used_on(StreamRef stream) override {
    if (::getpid() != pid_) throw Error(Errc::forked, "the device is the parent process's");
    DeviceModel& device = ring_->device();
    check_device_stream(device, stream);
    if (stream.device() == host()) {
      const Entered entered(device);
      device.synchronize(*slot_->ready);
      return;
    }
    for (const StreamRef known : streams_)
      if (known.handle() == stream.handle()) return;
    const Entered entered(device);
    if (slot_->released.size() == streams_.size()) slot_->released.push_back(device.make_event());
    streams_.reserve(streams_.size() + 1);
    device.wait(stream, *slot_->ready);
    streams_.push_back(stream);
  }

 private:
  std::shared_ptr<DeviceRing> ring_;
  DeviceSlot* slot_ = nullptr;
  std::vector<StreamRef> streams_;
  int pid_;
};

}  // namespace penstock::detail
