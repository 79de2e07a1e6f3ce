// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/cuda/cuda_error.hpp"
#include "image/cuda/kernels.hpp"
#include "image/pixel_quad.hpp"

namespace penstock::detail {

namespace {

using Result = PixelWork::Result;

// A block of threads makes a square of the result, so that it reads pixels that are close together even if the image is
// turned.
constexpr unsigned square = 32, quads_of_square = square / quad_pixels;

// If there are more images than the grid is deep, each block makes its square of several images, one after the other.
template <Result result, bool planar, int channels, bool whole>
__global__ void __launch_bounds__(quads_of_square* square) make_pixels_kernel(const PixelWork work) {
  const auto x = static_cast<std::int32_t>((blockIdx.x * quads_of_square + threadIdx.x) * quad_pixels);
  const auto y = static_cast<std::int32_t>(blockIdx.y * square + threadIdx.y);
  if (x >= work.width || y >= work.height) return;
  for (std::uint64_t image = blockIdx.z; image < work.images; image += gridDim.z)
    make_quad<result, planar, channels, whole>(work, image, y, x);
}

using Kernel = void (*)(PixelWork);

template <Result result, bool planar, int channels>
Kernel kernel_of_width(const PixelWork& work) {
  return work.width % quad_pixels == 0 ? make_pixels_kernel<result, planar, channels, true>
                                       : make_pixels_kernel<result, planar, channels, false>;
}

template <Result result, bool planar>
Kernel kernel_of_channels(const PixelWork& work) {
  switch (work.channels) {
    case 1:
      return kernel_of_width<result, planar, 1>(work);
    case 2:
      return kernel_of_width<result, planar, 2>(work);
    case 3:
      return kernel_of_width<result, planar, 3>(work);
    case 4:
      return kernel_of_width<result, planar, 4>(work);
    default:
      throw Error(Errc::unsupported, "images of " + std::to_string(work.channels) + " channels; 1 to 4 are known");
  }
}

template <Result result>
Kernel kernel_of_layout(const PixelWork& work) {
  return work.planar ? kernel_of_channels<result, true>(work) : kernel_of_channels<result, false>(work);
}

Kernel kernel_for(const PixelWork& work) {
  switch (work.result) {
    case Result::u8:
      return kernel_of_layout<Result::u8>(work);
    case Result::f16:
      return kernel_of_layout<Result::f16>(work);
    case Result::bf16:
      return kernel_of_layout<Result::bf16>(work);
    case Result::f32:
      break;
  }
  return kernel_of_layout<Result::f32>(work);
}

unsigned squares(std::int32_t pixels) { return (static_cast<unsigned>(pixels) + square - 1) / square; }

}  // namespace

void make_pixels_on_gpu(const PixelWork& work, StreamRef stream) {
  constexpr std::uint64_t max_deep = 65'535;
  if (work.images == 0 || work.height == 0 || work.width == 0) return;
  const dim3 grid(squares(work.width), squares(work.height), static_cast<unsigned>(std::min(work.images, max_deep)));
  kernel_for(work)<<<grid, dim3(quads_of_square, square), 0, static_cast<cudaStream_t>(stream.handle())>>>(work);
  check_cuda(cudaGetLastError(), "the kernel of image stages");
}

}  // namespace penstock::detail
