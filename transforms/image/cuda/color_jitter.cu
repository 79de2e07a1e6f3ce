// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <penstock/interop/cuda.hpp>

#include "color_kernels.hpp"

namespace penstock::image {

namespace {

constexpr unsigned threads_of_color_block = 256, rounds_of_color_block = 4;
constexpr int pixels_at_a_time = 4;  // pixels that a thread takes at a time
constexpr std::uint64_t pixels_of_color_block =
    std::uint64_t{threads_of_color_block} * rounds_of_color_block * pixels_at_a_time;

// Returns the sum over all threads of the block to its first thread, and 0 to the others. Sums of integers are the same
// in any order.
__device__ std::uint64_t sum_of_block(std::uint32_t value) {
  __shared__ std::uint32_t sums[threads_of_color_block / 32];
  for (unsigned distance = 16; distance != 0; distance /= 2) value += __shfl_down_sync(~0u, value, distance);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  std::uint64_t sum = 0;
  if (threadIdx.x == 0)
    for (const std::uint32_t part : sums) sum += part;
  __syncthreads();  // the next image overwrites `sums`
  return sum;
}

// Calls `f(first)` for the pixels of this thread, `pixels_at_a_time` pixels per call. `first` is the number of the
// first pixel; the others follow at steps of `threads_of_color_block`. A block of threads takes `pixels_of_color_block`
// pixels of an image.
template <class F>
__device__ void for_pixels(const ColorWork& work, F f) {
  std::uint64_t at = blockIdx.x * pixels_of_color_block + threadIdx.x;
  for (unsigned round = 0; round < rounds_of_color_block && at < work.pixels; ++round) {
    f(at);
    at += threads_of_color_block * pixels_at_a_time;
  }
}

// Loads the pixels for one call of `f` in for_pixels(). Pixels beyond the image are black.
template <int channels>
__device__ void load_colors(const ColorWork& work, std::uint64_t image, std::uint64_t at,
                            ColorPixel (&pixels)[pixels_at_a_time]) {
  const std::uint8_t* const in = work.in + image * work.pixels * channels;
#pragma unroll
  for (int i = 0; i < pixels_at_a_time; ++i, at += threads_of_color_block) {
    pixels[i] = {};
    if (at < work.pixels)
      for (int c = 0; c < channels; ++c) pixels[i].of[c] = in[at * channels + c];
  }
}

// Copies an image's draw to shared memory, which all threads of the block read fast.
__device__ const ColorDraw& shared_draw(const ColorDraw& draw) {
  __shared__ ColorDraw shared;
  __syncthreads();  // threads may still be reading the draw of the image before
  if (threadIdx.x == 0) shared = draw;
  __syncthreads();
  return shared;
}

// For each image whose contrast changes, carries out the operations before contrast, and then adds up the greys. If
// there are more images than gridDim.y, a block takes several images, one after the other.
template <int channels>
__global__ void __launch_bounds__(threads_of_color_block) sum_grays_kernel(ColorWork work, ColorDraw* draws) {
  for (std::uint64_t image = blockIdx.y; image < work.images; image += gridDim.y) {
    const ColorChange& change = shared_draw(draws[image]).change;
    const int contrast = color::place_of_contrast(change);
    if (contrast == 4) continue;
    std::uint32_t sum = 0;  // sum of at most 16 greys of a byte each
    for_pixels(work, [&](std::uint64_t at) {
      ColorPixel pixels[pixels_at_a_time];
      load_colors<channels>(work, image, at, pixels);
      color::change_pixels(pixels, channels, change, 0, contrast, 0);
#pragma unroll
      for (int i = 0; i < pixels_at_a_time; ++i, at += threads_of_color_block)
        if (at < work.pixels) sum += color::gray(pixels[i], channels);
    });
    const std::uint64_t of_block = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(&draws[image].gray_sum, static_cast<unsigned long long>(of_block));
  }
}

// Carries out all operations. To repeat those before contrast costs less than to keep their results.
template <int channels>
__global__ void __launch_bounds__(threads_of_color_block) change_colors_kernel(ColorWork work) {
  for (std::uint64_t image = blockIdx.y; image < work.images; image += gridDim.y) {
    const ColorDraw& draw = shared_draw(work.changes[image]);
    const float mean = color::mean_gray(draw.gray_sum, work.pixels);
    std::uint8_t* const out = work.out + image * work.pixels * channels;
    for_pixels(work, [&](std::uint64_t at) {
      ColorPixel pixels[pixels_at_a_time];
      load_colors<channels>(work, image, at, pixels);
      color::change_pixels(pixels, channels, draw.change, 0, 4, mean);
#pragma unroll
      for (int i = 0; i < pixels_at_a_time; ++i, at += threads_of_color_block)
        if (at < work.pixels)
          for (int c = 0; c < channels; ++c) out[at * channels + c] = pixels[i].of[c];
    });
  }
}

template <int channels>
void launch_color_jitter(const ColorWork& work, StreamRef stream) {
  constexpr std::uint64_t max_high = 65'535;
  const dim3 grid(static_cast<unsigned>((work.pixels + pixels_of_color_block - 1) / pixels_of_color_block),
                  static_cast<unsigned>(std::min(work.images, max_high)));
  // The draws may be changed: they are this batch's own copy on the GPU, in which all sums are 0.
  auto* const draws = const_cast<ColorDraw*>(work.changes);
  sum_grays_kernel<channels><<<grid, threads_of_color_block, 0, cuda_stream(stream)>>>(work, draws);
  cuda_detail::check(cudaGetLastError(), "the kernel of color_jitter that sums greys");
  change_colors_kernel<channels><<<grid, threads_of_color_block, 0, cuda_stream(stream)>>>(work);
  cuda_detail::check(cudaGetLastError(), "the kernel of color_jitter");
}

}  // namespace

void color_jitter_on_gpu(const ColorWork& work, StreamRef stream) {
  if (work.images == 0 || work.pixels == 0) return;
  work.channels == 1 ? launch_color_jitter<1>(work, stream) : launch_color_jitter<3>(work, stream);
}

}  // namespace penstock::image
