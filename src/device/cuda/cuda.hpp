#pragma once

#include <memory>
#include <string>

#include "device/device_model.hpp"

namespace penstock::detail {

// What a build with CUDA has, and one without: `support.cpp`, or `none.cpp`. No CUDA header is seen through it.

/// GPUs that can be used; 0 where the build, the driver or the machine has none. Asked once, then known. Any thread.
int cuda_device_count() noexcept;

/// What the build and the machine have, in a few words: "built without CUDA", "CUDA 13.0, 2 GPUs". Any thread.
std::string cuda_support();

/// Runs GPU number `index`. @throws Error(unsupported) that says why there is none, and what to do; Error(device |
/// out_of_memory).
std::shared_ptr<DeviceModel> open_cuda(int index);

}  // namespace penstock::detail
