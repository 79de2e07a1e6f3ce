#include <penstock/error.hpp>

#include "image_kernel.hpp"

namespace penstock::detail {

void make_pixels_on_gpu(const PixelWork&, StreamRef) {
  throw Error(Errc::unsupported, "this build has no kernels for a GPU; configure with -DPENSTOCK_CUDA=ON");
}

}  // namespace penstock::detail
