// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "device/device_model.hpp"

namespace penstock::detail {

// `support.cpp` implements this in a build with CUDA, `none.cpp` in a build without. It includes no CUDA header.

/// Returns the number of usable GPUs; 0 if the build, the driver or the machine has none. Asks once and keeps the
/// answer. Any thread may call it.
int cuda_device_count() noexcept;

/// Returns what the build and the machine have, in a few words: "built without CUDA", "CUDA 13.0, 2 GPUs". Any thread
/// may call it.
std::string cuda_support();

/// Opens GPU number `index`.
/// @throws Error(unsupported) that says why there is none, and what to do; Error(device | out_of_memory).
std::shared_ptr<DeviceModel> open_cuda(int index);

}  // namespace penstock::detail
