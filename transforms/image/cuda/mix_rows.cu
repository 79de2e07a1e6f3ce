// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <penstock/interop/cuda.hpp>

#include "mix_kernels.hpp"

namespace penstock::image {

namespace {

constexpr unsigned threads_of_mix_block = 256;

// A grid whose blocks take `threads_of_mix_block` things of a row each, and rows at steps of its height.
dim3 grid_of_rows(std::uint64_t things, std::uint64_t rows) {
  constexpr std::uint64_t max_wide = 0x7fffffff, max_high = 65'535;
  return {static_cast<unsigned>(std::min((things + threads_of_mix_block - 1) / threads_of_mix_block, max_wide)),
          static_cast<unsigned>(std::min(rows, max_high))};
}

// Calls `f(row, thing)` for the things of this thread.
template <class F>
__device__ void for_things(std::uint64_t rows, std::uint64_t things, F f) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t row = blockIdx.y; row < rows; row += gridDim.y)
    for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < things; i += step) f(row, i);
}

template <class Number, class Shares>
__global__ void __launch_bounds__(threads_of_mix_block) mix_kernel(MixRows work, Shares shares) {
  const auto* const in = static_cast<const typename Number::Element*>(work.in);
  auto* const out = static_cast<typename Number::Element*>(work.out);
  for_things(work.rows, work.elements, [&](std::uint64_t row, std::uint64_t i) {
    const std::uint64_t at = row * work.elements + i;
    out[at] = shares.mixes(work.rows, row)
                  ? Number::of(mixed(Number::value(in[at]), Number::value(in[(row ^ 1) * work.elements + i]),
                                     shares.share(row)))
                  : in[at];
  });
}

template <class Shares>
void launch_mix(const MixRows& work, const Shares& shares, StreamRef stream) {
  if (work.rows == 0 || work.elements == 0) return;
  const dim3 grid = grid_of_rows(work.elements, work.rows);
  const cudaStream_t on = cuda_stream(stream);
  switch (work.dtype) {
    case DType::f16:
      mix_kernel<Binary16><<<grid, threads_of_mix_block, 0, on>>>(work, shares);
      break;
    case DType::bf16:
      mix_kernel<Brain16><<<grid, threads_of_mix_block, 0, on>>>(work, shares);
      break;
    default:
      mix_kernel<Binary32><<<grid, threads_of_mix_block, 0, on>>>(work, shares);
  }
  cuda_detail::check(cudaGetLastError(), "the kernel that mixes rows");
}

// Row, column and channel of element `i` of an image.
struct ElementPlace {
  std::int32_t y, x, channel;
};
__device__ ElementPlace place_of(const ImageRows& images, std::uint64_t i) {
  const auto channels = static_cast<std::uint64_t>(images.channels), width = static_cast<std::uint64_t>(images.width),
             pixels = width * static_cast<std::uint64_t>(images.height);
  const bool hwc = images.layout == Layout::hwc;
  const std::uint64_t channel = hwc ? i % channels : i / pixels, pixel = hwc ? i / channels : i % pixels;
  return {static_cast<std::int32_t>(pixel / width), static_cast<std::int32_t>(pixel % width),
          static_cast<std::int32_t>(channel)};
}

__host__ __device__ std::uint64_t elements_of(const ImageRows& images) {
  return static_cast<std::uint64_t>(images.height) * static_cast<std::uint64_t>(images.width) *
         static_cast<std::uint64_t>(images.channels);
}

template <class Element>
__global__ void __launch_bounds__(threads_of_mix_block) cut_kernel(ImageRows images, const CutDraw* draws) {
  const auto* const in = static_cast<const Element*>(images.in);
  auto* const out = static_cast<Element*>(images.out);
  const std::uint64_t elements = elements_of(images);
  for_things(images.rows, elements, [&](std::uint64_t row, std::uint64_t i) {
    std::uint64_t from = row;
    if (has_neighbour(draws, images.rows, row)) {
      const ElementPlace at = place_of(images, i);
      if (cut_box(draw_of_pair(draws, row), images.height, images.width).has(at.y, at.x)) from = row ^ 1;
    }
    out[row * elements + i] = in[from * elements + i];
  });
}

template <class Element>
__global__ void __launch_bounds__(threads_of_mix_block) erase_kernel(EraseWork work) {
  const ImageRows& images = work.images;
  const auto* const in = static_cast<const Element*>(images.in);
  auto* const out = static_cast<Element*>(images.out);
  const std::uint64_t elements = elements_of(images);
  for_things(images.rows, elements, [&](std::uint64_t row, std::uint64_t i) {
    const ElementPlace at = place_of(images, i);
    const PixelBox box = erased_box(work.draws[row], work.root, images.height, images.width);
    out[row * elements + i] =
        box.has(at.y, at.x) ? static_cast<Element>(work.value[at.channel & 3]) : in[row * elements + i];
  });
}

}  // namespace

void mix_on_gpu(const MixRows& work, const DrawnShares& shares, StreamRef stream) { launch_mix(work, shares, stream); }
void mix_on_gpu(const MixRows& work, const CutShares& shares, StreamRef stream) { launch_mix(work, shares, stream); }

void cut_on_gpu(const ImageRows& images, const CutDraw* draws, StreamRef stream) {
  const std::uint64_t elements = elements_of(images);
  if (images.rows == 0 || elements == 0) return;
  const dim3 grid = grid_of_rows(elements, images.rows);
  const cudaStream_t on = cuda_stream(stream);
  switch (images.element) {
    case 1:
      cut_kernel<std::uint8_t><<<grid, threads_of_mix_block, 0, on>>>(images, draws);
      break;
    case 2:
      cut_kernel<std::uint16_t><<<grid, threads_of_mix_block, 0, on>>>(images, draws);
      break;
    case 4:
      cut_kernel<std::uint32_t><<<grid, threads_of_mix_block, 0, on>>>(images, draws);
      break;
    default:
      cut_kernel<std::uint64_t><<<grid, threads_of_mix_block, 0, on>>>(images, draws);
  }
  cuda_detail::check(cudaGetLastError(), "the kernel of cutmix");
}

void erase_on_gpu(const EraseWork& work, StreamRef stream) {
  const std::uint64_t elements = elements_of(work.images);
  if (work.images.rows == 0 || elements == 0) return;
  const dim3 grid = grid_of_rows(elements, work.images.rows);
  const cudaStream_t on = cuda_stream(stream);
  switch (work.images.element) {
    case 1:
      erase_kernel<std::uint8_t><<<grid, threads_of_mix_block, 0, on>>>(work);
      break;
    case 2:
      erase_kernel<std::uint16_t><<<grid, threads_of_mix_block, 0, on>>>(work);
      break;
    default:
      erase_kernel<std::uint32_t><<<grid, threads_of_mix_block, 0, on>>>(work);
  }
  cuda_detail::check(cudaGetLastError(), "the kernel of random_erasing");
}

}  // namespace penstock::image
