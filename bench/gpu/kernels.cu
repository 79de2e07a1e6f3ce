// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <cuda_fp16.h>

namespace penstock::gpu_bench {

namespace {

constexpr unsigned threads = 256;

__device__ unsigned long long nanoseconds_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void delay_kernel(unsigned long long nanoseconds) {
  const unsigned long long begin = nanoseconds_now();
  while (nanoseconds_now() - begin < nanoseconds) __nanosleep(1000);
}

__global__ void trap_kernel() { __trap(); }

__global__ void check_rows_kernel(const unsigned long long* rows, std::size_t words, std::uint64_t count,
                                  std::uint64_t first, unsigned long long* wrong) {
  const std::uint64_t row = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= count) return;
  // Volatile, because other streams may write to the rows meanwhile.
  const volatile unsigned long long* at = rows + row * words;
  if (at[0] != first + row || at[words - 1] != first + row) atomicAdd(wrong, 1ull);
}

__global__ void add_one_kernel(float* values, std::size_t count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    values[i] += 1.0f;
}

// splitmix64. Each number depends only on its position and the seed.
__global__ void fill_halves_kernel(__half* halves, std::size_t count, std::uint64_t seed) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  halves[i] = __float2half(static_cast<float>(z >> 40) * (2.0f / 16777216.0f) - 1.0f);
}

constexpr int tile = 32;

// Matrices are stored by columns, like cuBLAS's. A block makes one tile of c, and each thread one number of the tile.
__global__ void multiply_halves_kernel(int side, const __half* a, const __half* b, __half* c) {
  __shared__ float of_a[tile][tile + 1], of_b[tile][tile + 1];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const std::size_t row = blockIdx.x * tile + x, column = blockIdx.y * tile + y, n = side;
  float sum = 0;
  for (int first = 0; first < side; first += tile) {
    of_a[y][x] = __half2float(a[(first + y) * n + row]);
    of_b[y][x] = __half2float(b[column * n + first + x]);
    __syncthreads();
    for (int k = 0; k < tile; ++k) sum += of_a[k][x] * of_b[y][k];
    __syncthreads();
  }
  c[column * n + row] = __float2half(sum);
}

void check_launch(const char* kernel) {
  const cudaError_t code = cudaGetLastError();
  if (code != cudaSuccess) throw std::runtime_error(std::string(kernel) + ": " + cudaGetErrorString(code));
}

unsigned blocks_for(std::uint64_t count) { return static_cast<unsigned>((count + threads - 1) / threads); }

}  // namespace

void delay(cudaStream_t stream, double seconds) {
  delay_kernel<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(seconds * 1e9));
  check_launch("delay");
}

void trap(cudaStream_t stream) {
  trap_kernel<<<1, 1, 0, stream>>>();
  check_launch("trap");
}

void check_rows(cudaStream_t stream, const void* rows, std::size_t row_bytes, std::uint64_t count, std::uint64_t first,
                unsigned long long* wrong) {
  if (count == 0) return;
  check_rows_kernel<<<blocks_for(count), threads, 0, stream>>>(static_cast<const unsigned long long*>(rows),
                                                               row_bytes / 8, count, first, wrong);
  check_launch("check_rows");
}

void fill_halves(cudaStream_t stream, void* halves, std::size_t count, std::uint64_t seed) {
  fill_halves_kernel<<<blocks_for(count), threads, 0, stream>>>(static_cast<__half*>(halves), count, seed);
  check_launch("fill_halves");
}

void multiply_halves(cudaStream_t stream, int side, const void* a, const void* b, void* c) {
  const auto blocks = static_cast<unsigned>(side / tile);
  multiply_halves_kernel<<<dim3(blocks, blocks), dim3(tile, tile), 0, stream>>>(
      side, static_cast<const __half*>(a), static_cast<const __half*>(b), static_cast<__half*>(c));
  check_launch("multiply_halves");
}

void add_one(cudaStream_t stream, float* values, std::size_t count) {
  constexpr std::uint64_t max_blocks = 4096;
  const auto blocks = static_cast<unsigned>(std::min<std::uint64_t>(blocks_for(count), max_blocks));
  add_one_kernel<<<blocks, threads, 0, stream>>>(values, count);
  check_launch("add_one");
}

}  // namespace penstock::gpu_bench
