// SPDX-License-Identifier: Apache-2.0
// A device that counts what is taken from it: memory of both kinds, streams, and events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <penstock/memory.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "core/device/forwarding_device.hpp"

namespace help {

class CountedDevice final : public ForwardingDevice {
 public:
  struct Taken {
    std::uint64_t device_blocks = 0, pinned_blocks = 0, streams = 0, events = 0;
    friend bool operator==(const Taken&, const Taken&) = default;
  };

  explicit CountedDevice(std::shared_ptr<DeviceModel> inner)
      : ForwardingDevice(std::move(inner)),
        device_memory_(ForwardingDevice::device_memory()),
        pinned_memory_(ForwardingDevice::pinned_memory()) {}

  /// Since it was made.
  Taken taken() const { return {device_memory_.allocations(), pinned_memory_.allocations(), streams_, events_}; }

  penstock::MemoryResource& device_memory() noexcept override { return device_memory_; }
  penstock::MemoryResource& pinned_memory() noexcept override { return pinned_memory_; }
  std::unique_ptr<Stream> make_stream(const char* name, Priority priority) override {
    ++streams_;
    return ForwardingDevice::make_stream(name, priority);
  }
  std::unique_ptr<Event> make_event() override {
    ++events_;
    return ForwardingDevice::make_event();
  }

 private:
  penstock::testing::StatisticsResource device_memory_, pinned_memory_;
  std::atomic<std::uint64_t> streams_{0}, events_{0};
};

}  // namespace help
