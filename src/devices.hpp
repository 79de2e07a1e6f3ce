#pragma once

#include <memory>

#include <penstock/device.hpp>

#include "device_model.hpp"

namespace penstock::detail {

/// What runs this device; null for the host. @throws Error(unsupported) that says why there is none, and what to do.
std::shared_ptr<DeviceModel> open_device(Device device);

/// From now on, and as long as somebody has it, it is what runs its `device()`.
void register_device(const std::shared_ptr<DeviceModel>& device);

}  // namespace penstock::detail
