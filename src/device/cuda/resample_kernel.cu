#include <algorithm>

#include "cuda.hpp"
#include "cuda_error.hpp"
#include "device/resample_tile.hpp"

namespace penstock::detail {

namespace {

constexpr std::int32_t threads = 256;

// More images than a grid is deep come in turns. All threads of a block take the same ways at its barriers.
template <int channels>
__global__ void __launch_bounds__(threads) resample_kernel(const ResampleWork work) {
  using Tile = ResampleTile<channels>;
  constexpr std::int32_t pixels_each = Tile::pixels / threads;
  static_assert(Tile::pixels % threads == 0);
  __shared__ alignas(16) std::uint8_t between[Tile::height * Tile::stretch];
  const auto me = static_cast<std::int32_t>(threadIdx.x);
  for (std::uint64_t image = blockIdx.z; image < work.images; image += gridDim.z) {
    const Tile tile(work, image, static_cast<std::int32_t>(blockIdx.y) * Tile::height,
                    static_cast<std::int32_t>(blockIdx.x) * Tile::width);
    if (tile.blank())
      for (std::int32_t i = me; i < Tile::pixels; i += threads) tile.write_zeros(i);
    if (!tile.has_pixels()) continue;
    std::int32_t sums[pixels_each][channels];
#pragma unroll
    for (int i = 0; i < pixels_each; ++i)
#pragma unroll
      for (int c = 0; c < channels; ++c) sums[i][c] = tile.rounding();
    for (std::int32_t from = tile.low(); from < tile.high(); from += Tile::stretch) {
      for (std::int32_t i = me; i < Tile::words; i += threads) tile.make_word(i, from, between);
      __syncthreads();
#pragma unroll
      for (int i = 0; i < pixels_each; ++i) tile.add(me + i * threads, from, between, sums[i]);
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < pixels_each; ++i) tile.write(me + i * threads, sums[i]);
  }
}

unsigned tiles(std::int32_t pixels, std::int32_t each) { return static_cast<unsigned>((pixels + each - 1) / each); }

template <int channels>
void launch(const ResampleWork& work, StreamRef stream) {
  using Tile = ResampleTile<channels>;
  constexpr std::uint64_t max_deep = 65'535;
  // Any window may be laid down transposed.
  const std::int32_t side = std::max(work.height, work.width);
  const dim3 grid(tiles(side, Tile::width), tiles(side, Tile::height),
                  static_cast<unsigned>(std::min(work.images, max_deep)));
  resample_kernel<channels><<<grid, threads, 0, static_cast<cudaStream_t>(stream.handle())>>>(work);
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
