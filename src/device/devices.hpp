// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <penstock/device.hpp>

#include "device/device_model.hpp"

namespace penstock::detail {

/// Returns the model that runs this device; null for the host. The first caller opens a GPU, all callers share it, and
/// it is closed with the last owner.
/// @throws Error(unsupported) that says why there is none, and what to do; Error(device | out_of_memory).
std::shared_ptr<DeviceModel> open_device(Device device);

/// Makes `device` the model that runs its `device()`, from now on and as long as it has an owner.
void register_device(const std::shared_ptr<DeviceModel>& device);

/// Returns which of `count` GPUs is this process's: see `best_device()`. `environment` is `getenv`, or a test's
/// function. REQUIRES: `count` is at least 1.
int gpu_of_rank(int count, const std::function<const char*(const char*)>& environment);

/// Returns why `best_device()` was the host; empty if it was a GPU, or was not called. Any thread may call it.
std::string why_best_is_host();

}  // namespace penstock::detail
