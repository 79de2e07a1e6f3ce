// SPDX-License-Identifier: Apache-2.0
// Implements kernels.hpp in a build without CUDA.
#include <penstock/error.hpp>

#include "kernels.hpp"

namespace penstock::detail {

namespace {
[[noreturn]] void no_kernels() {
  throw Error(Errc::unsupported, "this build has no kernels for GPUs; configure it with -DPENSTOCK_CUDA=ON");
}
}  // namespace

void make_pixels_on_gpu(const PixelWork&, StreamRef) { no_kernels(); }

void resample_on_gpu(const ResampleWork&, StreamRef) { no_kernels(); }

}  // namespace penstock::detail
