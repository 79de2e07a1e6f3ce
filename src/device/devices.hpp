#pragma once

#include <functional>
#include <memory>
#include <string>

#include <penstock/device.hpp>

#include "device/device_model.hpp"

namespace penstock::detail {

/// What runs this device; null for the host. A GPU is opened by the first caller, shared by all, and gone with the
/// last. @throws Error(unsupported) that says why there is none, and what to do; Error(device | out_of_memory).
std::shared_ptr<DeviceModel> open_device(Device device);

/// From now on, and as long as somebody has it, it is what runs its `device()`.
void register_device(const std::shared_ptr<DeviceModel>& device);

/// Which of `count` GPUs, at least one, is this process's: see `best_device()`. `environment` is `getenv`, or a test's.
int gpu_of_rank(int count, const std::function<const char*(const char*)>& environment);

/// Why `best_device()` was the host; empty where nobody asked it, or it was a GPU. Any thread.
std::string why_best_is_host();

}  // namespace penstock::detail
