// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "delivery/device_ring.hpp"
#include "delivery/lease.hpp"

namespace penstock::detail::runtime {

/// @throws Error(invalid_argument | unsupported) if batches of this device can't be used on the stream.
inline void check_device_stream(DeviceModel& device, StreamRef stream) {
  if (stream.device() == host()) return;
  if (stream.device() != device.device())
    throw Error(Errc::invalid_argument,
                "a stream of " + to_string(stream.device()) + " for batches on " + to_string(device.device()));
  const DeviceGuard entered(device);
  if (device.captures(stream))
    throw Error(Errc::unsupported,
                "the stream is being captured into a graph, which would repeat this batch for ever; take batches "
                "outside of the capture");
}

/// A batch on a device in the caller's hands.
class DeviceLease final : public Lease {
 public:
  /// Creates a lease for the part of device number `part`.
  DeviceLease(std::shared_ptr<DeviceRing> ring, std::size_t part)
      : Lease(ring->data(), ring->layout(), ring->made_layout()),
        ring_(std::move(ring)),
        part_(part),
        pid_(process_id()) {
    streams_.reserve(1);
  }
  ~DeviceLease() override {
    if (buffer_ == nullptr) return;
    // In a forked child, a thread that exists only in the parent may hold the mutex, and the child must not use the
    // device. So the child never frees the ring.
    if (process_id() == pid_) {
      ring_->give_back(*buffer_, part_, streams_);
    } else {
      static_cast<void>(new (std::nothrow) std::shared_ptr<DeviceRing>(std::move(ring_)));
    }
  }

  /// Begins the lease. If `stream` is the host's stream, no stream of the device is noted as a user of the batch.
  void take(DeviceBatch& buffer, StreamRef stream) noexcept {
    if (stream.device() != host()) streams_.push_back(stream);
    buffer_ = &buffer;
    hold(buffer.info(part_), buffer.parts[part_].data);
  }
  std::optional<PackedLocation> packed(std::size_t field) const noexcept override {
    for (const PackedField& table : buffer_->parts[part_].tables)
      if (table.field == field) return PackedLocation{table.table, table.data, table.elements};
    return std::nullopt;
  }
  Device device() const noexcept override { return ring_->device(part_).device(); }
  void also_used_on(StreamRef stream) override {
    if (process_id() != pid_) throw Error(Errc::forked, "the device is the parent process's");
    DeviceModel& device = ring_->device(part_);
    DevicePart& part = buffer_->parts[part_];
    check_device_stream(device, stream);
    if (stream.device() == host()) {
      const DeviceGuard entered(device);
      device.synchronize(*part.ready);
      return;
    }
    const DeviceGuard entered(device);
    // The handle of a default stream per thread means a different stream on each thread. So the stream must wait even
    // if its handle is known.
    for (const StreamRef known : streams_)
      if (known.handle() == stream.handle()) return device.wait(stream, *part.ready);
    if (part.released.size() == streams_.size()) part.released.push_back(device.make_event());
    streams_.reserve(streams_.size() + 1);
    device.wait(stream, *part.ready);
    streams_.push_back(stream);
  }

 private:
  std::shared_ptr<DeviceRing> ring_;
  std::size_t part_;
  DeviceBatch* buffer_ = nullptr;
  std::vector<StreamRef> streams_;
  int pid_;
};

}  // namespace penstock::detail::runtime
