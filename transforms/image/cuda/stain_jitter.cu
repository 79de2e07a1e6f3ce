// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <penstock/interop/cuda.hpp>

#include "color_kernels.hpp"

namespace penstock::image {

namespace {

constexpr unsigned threads_of_stain_block = 256;

// Each thread changes one pixel of an image. If there are more images than gridDim.y, it changes the same pixel of
// several images.
__global__ void __launch_bounds__(threads_of_stain_block)
    stain_jitter_kernel(StainWork work, OpticalDensities densities) {
  __shared__ OpticalDensities table;  // reading an argument is slow if threads read different elements of it
  for (unsigned level = threadIdx.x; level < 256; level += blockDim.x) table.of[level] = densities.of[level];
  __syncthreads();
  const std::uint64_t pixel = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (pixel >= work.pixels) return;
  for (std::uint64_t image = blockIdx.y; image < work.images; image += gridDim.y) {
    const std::uint64_t at = (image * work.pixels + pixel) * 3;
    change_stains(work.in + at, work.out + at, work.changes[image], table);
  }
}

}  // namespace

void stain_jitter_on_gpu(const StainWork& work, const OpticalDensities& densities, StreamRef stream) {
  constexpr std::uint64_t max_high = 65'535;
  if (work.images == 0 || work.pixels == 0) return;
  const dim3 grid(static_cast<unsigned>((work.pixels + threads_of_stain_block - 1) / threads_of_stain_block),
                  static_cast<unsigned>(std::min(work.images, max_high)));
  stain_jitter_kernel<<<grid, threads_of_stain_block, 0, cuda_stream(stream)>>>(work, densities);
  cuda_detail::check(cudaGetLastError(), "the kernel of stain_jitter");
}

}  // namespace penstock::image
