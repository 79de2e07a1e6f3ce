// SPDX-License-Identifier: Apache-2.0
// Implements cuda.hpp in a build without CUDA.
#include <penstock/error.hpp>

#include "cuda.hpp"

namespace penstock::detail {

int cuda_device_count() noexcept { return 0; }

std::string cuda_support() { return "built without CUDA"; }

std::shared_ptr<DeviceModel> open_cuda(int index) {
  throw Error(Errc::unsupported, to_string(gpu(index)) +
                                     ": this penstock was built without CUDA; rebuild it with -DPENSTOCK_CUDA=ON, use "
                                     "host() or best_device(), or an EmulatedGpu's device() to try things out");
}

}  // namespace penstock::detail
