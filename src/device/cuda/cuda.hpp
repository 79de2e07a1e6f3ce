// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "device/device_model.hpp"

namespace penstock::detail {

// `support.cpp` implements these functions in a build with CUDA, and `no_cuda.cpp` in a build without CUDA. This header
// includes no CUDA header.

/// Returns the number of usable GPUs; 0 if the build has no CUDA, or the machine has no driver or no GPU. Asks the
/// driver at each call until the number is above 0. Any thread may call it.
int cuda_device_count() noexcept;

/// Returns what the build and the machine have, such as "built without CUDA" or "CUDA 13.0, 2 GPUs". Any thread may
/// call it.
std::string cuda_support();

/// Opens GPU number `index`.
/// @throws Error(unsupported) if there is no such GPU; the error says why, and what to do. @throws Error(device |
/// out_of_memory).
std::shared_ptr<DeviceModel> open_cuda(int index);

}  // namespace penstock::detail
