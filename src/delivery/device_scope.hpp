// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "delivery/device_ring.hpp"

namespace penstock::detail::runtime {

/// Enters devices for one thread. The thread is in one device at a time: `enter` leaves the previous device if it is a
/// different one.
class DeviceScope {
 public:
  explicit DeviceScope(const DeviceModels& devices) : devices_(devices) {}
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() { leave(); }
  /// @throws Error(device).
  void enter(std::size_t number) {
    DeviceModel& device = *devices_[number];
    if (in_ == &device) return;
    leave();
    before_ = device.enter();
    in_ = &device;
  }

 private:
  void leave() noexcept {
    if (in_ != nullptr) in_->leave(before_);
    in_ = nullptr;
  }

  const DeviceModels& devices_;
  DeviceModel* in_ = nullptr;
  int before_ = 0;
};

}  // namespace penstock::detail::runtime
