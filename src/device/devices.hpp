// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <penstock/device.hpp>

#include "device/device_model.hpp"

namespace penstock::detail {

/// Returns the model that runs this device; null for the host. The first caller opens a GPU, and all callers share it.
/// The GPU is closed when the model's last owner is destroyed.
/// @throws Error(unsupported) if there is no such device; the error says why, and what to do. @throws Error(device |
/// out_of_memory).
std::shared_ptr<DeviceModel> open_device(Device device);

/// Makes `open_device(device->device())` return `device`, as long as `device` has an owner.
void register_device(const std::shared_ptr<DeviceModel>& device);

/// Returns which of `count` GPUs this process should use: see `best_device()`. `environment` is `getenv`, or a test's
/// function. REQUIRES: `count` is at least 1.
int gpu_of_rank(int count, const std::function<const char*(const char*)>& environment);

/// Returns why `best_device()` returned the host. Returns an empty text if `best_device()` has not returned the host so
/// far. Any thread may call it.
std::string why_best_is_host();

}  // namespace penstock::detail
