// A build without CUDA.
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

namespace {
[[noreturn]] void no_kernels() {
  throw Error(Errc::unsupported, "this build has no kernels for GPUs; configure it with -DPENSTOCK_CUDA=ON");
}
}  // namespace

void make_pixels_on_gpu(const PixelWork&, StreamRef) { no_kernels(); }

void resample_on_gpu(const ResampleWork&, StreamRef) { no_kernels(); }

}  // namespace penstock::detail
