// SPDX-License-Identifier: Apache-2.0
// Implements cuda.hpp in a build with CUDA.
#include <atomic>
#include <string>

#include "cuda.hpp"
#include "cuda_device.hpp"
#include "cuda_error.hpp"

namespace penstock::detail {

namespace {

struct CudaFound {
  cudaError_t code = cudaSuccess;
  int count = 0;
};

// Once GPUs were found, their number is kept, because the runtime does not look again either.
CudaFound look_for_gpus() noexcept {
  static std::atomic<int> known{0};
  if (const int count = known.load(std::memory_order_relaxed); count > 0) return {cudaSuccess, count};
  CudaFound found;
  found.code = cudaGetDeviceCount(&found.count);
  forget_cuda(found.code);
  if (found.code != cudaSuccess || found.count < 0) found.count = 0;
  known.store(found.count, std::memory_order_relaxed);
  return found;
}

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string runtime_version() { return "CUDA " + cuda_version(CUDART_VERSION); }

// What the build and the machine have, and what the user can do if there is no GPU.
struct CudaSupport {
  std::string is, what_to_do;
};

CudaSupport cuda_support_of(const CudaFound& found) {
  if (found.count == 1) return {runtime_version() + ", 1 GPU", ""};
  if (found.count > 1) return {runtime_version() + ", " + std::to_string(found.count) + " GPUs", ""};
  if (found.code == cudaErrorInsufficientDriver) {
    int driver = 0;
    forget_cuda(cudaDriverGetVersion(&driver));
    if (driver == 0) return {runtime_version() + " runtime, no driver on this machine", "install NVIDIA's driver"};
    return {runtime_version() + " runtime, and a driver for CUDA " + cuda_version(driver) + " on this machine",
            "update NVIDIA's driver, or build penstock with that version's toolkit"};
  }
  if (found.code == cudaSuccess || found.code == cudaErrorNoDevice)
    return {runtime_version() + ", no GPU", "where the machine has one, look at CUDA_VISIBLE_DEVICES"};
  return {runtime_version() + ", and no GPU, as cudaGetDeviceCount failed: " + cudaGetErrorName(found.code) + " (" +
              std::to_string(static_cast<int>(found.code)) + "): " + cudaGetErrorString(found.code),
          "look at nvidia-smi"};
}

std::string gpu_names(int count) {
  if (count == 1) return "there is 1: gpu(0)";
  return "there are " + std::to_string(count) + ": " + (count == 2 ? "gpu(0) and" : "gpu(0) to") + " gpu(" +
         std::to_string(count - 1) + ")";
}

}  // namespace

int cuda_device_count() noexcept { return look_for_gpus().count; }

std::string cuda_support() { return cuda_support_of(look_for_gpus()).is; }

std::shared_ptr<DeviceModel> open_cuda(int index) {
  const CudaFound found = look_for_gpus();
  if (found.count == 0) {
    const CudaSupport support = cuda_support_of(found);
    throw Error(Errc::unsupported, to_string(gpu(index)) + " can't be used: " + support.is + "; " + support.what_to_do +
                                       ", or use host() or best_device()");
  }
  if (index < 0 || index >= found.count)
    throw Error(Errc::unsupported, "there is no " + to_string(gpu(index)) + "; " + gpu_names(found.count));
  return std::make_shared<CudaDevice>(index);
}

}  // namespace penstock::detail
