#include <algorithm>

#include <penstock/interop/cuda.hpp>

#include "jitter_kernels.hpp"

namespace penstock::image {

namespace {

constexpr unsigned threads_of_color_block = 256, pixels_of_color_thread = 16;
constexpr std::uint64_t pixels_of_color_block = threads_of_color_block * pixels_of_color_thread;

__device__ ColorPixel load_color(const ColorWork& work, std::uint64_t at) {
  ColorPixel pixel = {};
  for (int c = 0; c < work.channels; ++c) pixel.of[c] = work.in[at + static_cast<unsigned>(c)];
  return pixel;
}

// Of all threads of the block, for the first one. Integers: in any order the same.
__device__ std::uint64_t sum_of_block(std::uint32_t value) {
  __shared__ std::uint32_t sums[threads_of_color_block / 32];
  for (unsigned distance = 16; distance != 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  std::uint64_t sum = 0;
  if (threadIdx.x == 0)
    for (const std::uint32_t part : sums) sum += part;
  __syncthreads();  // the next image writes there
  return sum;
}

// A block takes so many pixels of an image; more images than a grid is high come in turns.
template <class F>
__device__ void for_pixels(const ColorWork& work, F f) {
  const std::uint64_t begin = blockIdx.x * pixels_of_color_block;
  const std::uint64_t end = begin + pixels_of_color_block < work.pixels ? begin + pixels_of_color_block : work.pixels;
  for (std::uint64_t p = begin + threadIdx.x; p < end; p += threads_of_color_block) f(p);
}

// The greys of the image after the operations before contrast.
__global__ void __launch_bounds__(threads_of_color_block) sum_grays_kernel(ColorWork work, ColorDraw* draws) {
  for (std::uint64_t image = blockIdx.y; image < work.images; image += gridDim.y) {
    const ColorChange change = draws[image].change;
    const int contrast = color::place_of_contrast(change);
    if (contrast == 4) continue;
    const std::uint64_t first = image * work.pixels * static_cast<unsigned>(work.channels);
    std::uint32_t sum = 0;  // of 16 bytes
    for_pixels(work, [&](std::uint64_t p) {
      const ColorPixel pixel = load_color(work, first + p * static_cast<unsigned>(work.channels));
      sum += color::gray(color::changed(pixel, work.channels, change, 0, contrast, 0), work.channels);
    });
    const std::uint64_t of_block = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(&draws[image].gray_sum, static_cast<unsigned long long>(of_block));
  }
}

// What stands before contrast is worked out once more, which costs less than to keep it.
__global__ void __launch_bounds__(threads_of_color_block) change_colors_kernel(ColorWork work) {
  for (std::uint64_t image = blockIdx.y; image < work.images; image += gridDim.y) {
    const ColorDraw draw = work.changes[image];
    const std::uint64_t first = image * work.pixels * static_cast<unsigned>(work.channels);
    const float mean = color::mean_gray(draw.gray_sum, work.pixels);
    for_pixels(work, [&](std::uint64_t p) {
      const std::uint64_t at = first + p * static_cast<unsigned>(work.channels);
      const ColorPixel pixel = color::changed(load_color(work, at), work.channels, draw.change, 0, 4, mean);
      for (int c = 0; c < work.channels; ++c) work.out[at + static_cast<unsigned>(c)] = pixel.of[c];
    });
  }
}

}  // namespace

void color_jitter_on_gpu(const ColorWork& work, StreamRef stream) {
  constexpr std::uint64_t max_high = 65'535;
  if (work.images == 0 || work.pixels == 0) return;
  const dim3 grid(static_cast<unsigned>((work.pixels + pixels_of_color_block - 1) / pixels_of_color_block),
                  static_cast<unsigned>(std::min(work.images, max_high)));
  // The draws are this batch's own copy on the GPU, and their sums are 0 in it.
  auto* const draws = const_cast<ColorDraw*>(work.changes);
  sum_grays_kernel<<<grid, threads_of_color_block, 0, cuda_stream(stream)>>>(work, draws);
  cuda_detail::check(cudaGetLastError(), "the kernel of color_jitter that sums greys");
  change_colors_kernel<<<grid, threads_of_color_block, 0, cuda_stream(stream)>>>(work);
  cuda_detail::check(cudaGetLastError(), "the kernel of color_jitter");
}

}  // namespace penstock::image
