// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "device/cuda/cuda_error.hpp"
#include "image/cuda/kernels.hpp"
#include "image/resample_tile.hpp"

namespace penstock::detail {

namespace {

// The number of tiles that a block of threads makes, one below the other. Data that is the same for all tiles of a
// block is read once.
constexpr std::int32_t tiles_each = 2;
// The number of blocks that a multiprocessor must be able to run at a time. There are several, so that some blocks work
// while others wait for memory. With four channels, there are too few registers for a fifth block. Older GPUs have too
// few threads for a fifth block.
constexpr int blocks_at_a_time(int channels) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  return 4;
#else
  return channels < 4 ? 5 : 4;
#endif
}

// If there are more images than the grid is deep, each block makes its tiles of several images, one image after the
// other. All threads of a block reach the same barriers.
template <int channels>
__global__ void __launch_bounds__(ResampleTile<channels>::threads, blocks_at_a_time(channels))
    resample_kernel(const ResampleWork work) {
  using Tile = ResampleTile<channels>;
  __shared__ alignas(16) std::uint32_t between[Tile::cells];
  const auto me = static_cast<std::int32_t>(threadIdx.x);
  Tile::write_zeros_around(me, between);
  for (std::uint64_t image = blockIdx.z; image < work.images; image += gridDim.z) {
    Tile tile(work, image, static_cast<std::int32_t>(blockIdx.y) * tiles_each * Tile::height,
              static_cast<std::int32_t>(blockIdx.x) * Tile::width);
    const auto column = tile.column_of(me);
#pragma unroll 1
    for (std::int32_t i = 0; i < tiles_each; ++i, tile.move_down()) {
      if (tile.blank()) tile.write_zeros(me);
      if (!tile.has_pixels()) continue;
      typename Tile::Sums sums;
      for (auto& pixel : sums)
        for (std::uint32_t& sum : pixel) sum = tile.rounding();
      for (std::int32_t from = tile.low(); from < tile.high(); from += Tile::stretch) {
        tile.make_rows(me, from, between);
        __syncthreads();
        tile.add(me, column, from, between, sums);
        __syncthreads();
      }
      tile.write(me, sums);
    }
  }
}

unsigned tiles(std::int32_t pixels, std::int32_t each) { return static_cast<unsigned>((pixels + each - 1) / each); }

template <int channels>
void launch(const ResampleWork& work, StreamRef stream) {
  using Tile = ResampleTile<channels>;
  constexpr std::uint64_t max_deep = 65'535;
  // The grid is large enough for either orientation, because each image may be transposed.
  const std::int32_t side = std::max(work.height, work.width);
  const dim3 grid(tiles(side, Tile::width), tiles(side, tiles_each * Tile::height),
                  static_cast<unsigned>(std::min(work.images, max_deep)));
  resample_kernel<channels><<<grid, Tile::threads, 0, static_cast<cudaStream_t>(stream.handle())>>>(work);
}

}  // namespace

void resample_on_gpu(const ResampleWork& work, StreamRef stream) {
  if (work.images == 0) return;
  switch (work.channels) {
    case 1:
      launch<1>(work, stream);
      break;
    case 2:
      launch<2>(work, stream);
      break;
    case 3:
      launch<3>(work, stream);
      break;
    default:
      launch<4>(work, stream);
  }
  check_cuda(cudaGetLastError(), "the kernel that resamples");
}

}  // namespace penstock::detail
