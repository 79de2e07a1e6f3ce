#include <algorithm>

#include "cuda.hpp"
#include "cuda_error.hpp"

namespace penstock::detail {

namespace {

constexpr unsigned threads_of_block = 256;

// A block takes pixels of one image, side by side; more images than a grid is high come in turns.
__global__ void make_pixels_kernel(PixelWork work) {
  const std::int64_t pixels = static_cast<std::int64_t>(work.height) * work.width;
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= pixels) return;
  const auto y = static_cast<std::int32_t>(at / work.width), x = static_cast<std::int32_t>(at % work.width);
  for (std::uint64_t image = blockIdx.y; image < work.images; image += gridDim.y) make_pixel(work, image, y, x);
}

}  // namespace

void make_pixels_on_gpu(const PixelWork& work, StreamRef stream) {
  constexpr std::uint64_t max_high = 65'535;
  const auto pixels = static_cast<std::uint64_t>(work.height) * static_cast<std::uint64_t>(work.width);
  if (work.images == 0 || pixels == 0) return;
  const dim3 grid(static_cast<unsigned>((pixels + threads_of_block - 1) / threads_of_block),
                  static_cast<unsigned>(std::min(work.images, max_high)));
  make_pixels_kernel<<<grid, threads_of_block, 0, static_cast<cudaStream_t>(stream.handle())>>>(work);
  check_cuda(cudaGetLastError(), "the kernel of image stages");
}

}  // namespace penstock::detail
