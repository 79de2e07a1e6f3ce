// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include <penstock/interop/cuda.hpp>

#include "brighten.hpp"

namespace {

// Each block does one row.
__global__ void brighten_kernel(Brightening work) {
  const std::uint64_t row = blockIdx.x;
  const Light light = work.lights[row];
  if (threadIdx.x == 0) work.lights_to[row] = light;
  const std::size_t begin = row * work.row_bytes;
  for (std::size_t i = threadIdx.x; i < work.row_bytes; i += blockDim.x)
    work.to[begin + i] = brighter(work.from[begin + i], light);
}

}  // namespace

void brighten_on_gpu(const Brightening& work, penstock::StreamRef stream) {
  brighten_kernel<<<static_cast<unsigned>(work.rows), 256, 0, penstock::cuda_stream(stream)>>>(work);
  const cudaError_t code = cudaGetLastError();
  if (code != cudaSuccess) throw std::runtime_error(std::string("brighten: ") + cudaGetErrorString(code));
}
