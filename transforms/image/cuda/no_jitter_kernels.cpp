// A build without CUDA.
#include <penstock/error.hpp>

#include "jitter_kernels.hpp"

namespace penstock::image {

namespace {

[[noreturn]] void refuse_kernels() {
  throw Error(Errc::unsupported, "this build has no kernels for a GPU; configure with -DPENSTOCK_CUDA=ON");
}

}  // namespace

void color_jitter_on_gpu(const ColorWork&, StreamRef) { refuse_kernels(); }
void stain_jitter_on_gpu(const StainWork&, const StainDensities&, StreamRef) { refuse_kernels(); }

}  // namespace penstock::image
