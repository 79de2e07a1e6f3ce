#include <algorithm>

#include <penstock/interop/cuda.hpp>

#include "jitter_kernels.hpp"

namespace penstock::image {

namespace {

constexpr unsigned threads_of_color_block = 512;

__device__ ColorPixel load_color(const ColorWork& work, std::uint64_t at) {
  ColorPixel pixel = {};
  for (int c = 0; c < work.channels; ++c) pixel.of[c] = work.in[at + static_cast<unsigned>(c)];
  return pixel;
}

// Of all threads of the block, each of which gets it. Integers: in any order the same.
__device__ std::uint64_t sum_of_block(std::uint64_t value) {
  __shared__ std::uint64_t sums[threads_of_color_block];
  sums[threadIdx.x] = value;
  for (unsigned half = threads_of_color_block / 2; half != 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  __syncthreads();
  const std::uint64_t sum = sums[0];
  __syncthreads();  // the next image writes there
  return sum;
}

// A block an image. What stands before contrast is worked out twice, which costs less than to keep it.
__global__ void __launch_bounds__(threads_of_color_block) color_jitter_kernel(ColorWork work) {
  for (std::uint64_t image = blockIdx.x; image < work.images; image += gridDim.x) {
    const ColorChange change = work.changes[image];
    const auto channels = static_cast<std::uint64_t>(work.channels);
    const std::uint64_t first = image * work.pixels * channels;
    const int contrast = color::place_of_contrast(change);
    float mean = 0;
    if (contrast != 4) {
      std::uint64_t sum = 0;
      for (std::uint64_t p = threadIdx.x; p < work.pixels; p += blockDim.x) {
        const ColorPixel pixel = load_color(work, first + p * channels);
        sum += color::gray(color::changed(pixel, work.channels, change, 0, contrast, 0), work.channels);
      }
      mean = color::mean_gray(sum_of_block(sum), work.pixels);
    }
    for (std::uint64_t p = threadIdx.x; p < work.pixels; p += blockDim.x) {
      const std::uint64_t at = first + p * channels;
      const ColorPixel pixel = color::changed(load_color(work, at), work.channels, change, 0, 4, mean);
      for (int c = 0; c < work.channels; ++c) work.out[at + static_cast<unsigned>(c)] = pixel.of[c];
    }
  }
}

}  // namespace

void color_jitter_on_gpu(const ColorWork& work, StreamRef stream) {
  constexpr std::uint64_t max_blocks = 1u << 20;
  if (work.images == 0 || work.pixels == 0) return;
  const auto blocks = static_cast<unsigned>(std::min(work.images, max_blocks));
  color_jitter_kernel<<<blocks, threads_of_color_block, 0, cuda_stream(stream)>>>(work);
  cuda_detail::check(cudaGetLastError(), "the kernel of color_jitter");
}

}  // namespace penstock::image
