// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels.hpp"

#include <stdexcept>

namespace {

__device__ unsigned long long now() {
  unsigned long long nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
}

__global__ void delay_kernel(unsigned long long nanoseconds) {
  const unsigned long long begin = now();
  while (now() - begin < nanoseconds) __nanosleep(1000);
}

// Volatile: what is there now, as others may write to it.
__global__ void copy_bytes_kernel(volatile unsigned long long* to, const volatile unsigned long long* from,
                                  std::size_t words) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += step)
    to[i] = from[i];
}

__global__ void check_rows_kernel(const volatile unsigned long long* rows, std::size_t words, std::uint64_t count,
                                  std::uint64_t first, unsigned long long* wrong) {
  for (std::uint64_t row = threadIdx.x; row < count; row += blockDim.x) {
    const volatile unsigned long long* at = rows + row * words;
    if (at[0] != first + row || at[words - 1] != first + row) atomicAdd(wrong, 1ull);
  }
}

__global__ void trap_kernel() { __trap(); }

void check_launch() {
  const cudaError_t code = cudaGetLastError();
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

}  // namespace

void kernels::delay(cudaStream_t stream, std::chrono::nanoseconds time) {
  delay_kernel<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(time.count()));
  check_launch();
}

void kernels::copy_bytes(cudaStream_t stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  copy_bytes_kernel<<<64, 256, 0, stream>>>(reinterpret_cast<unsigned long long*>(to),
                                            reinterpret_cast<const unsigned long long*>(from), bytes / 8);
  check_launch();
}

void kernels::check_rows(cudaStream_t stream, const std::byte* rows, std::size_t row_bytes, std::uint64_t count,
                         std::uint64_t first, unsigned long long* wrong) {
  check_rows_kernel<<<1, 64, 0, stream>>>(reinterpret_cast<const unsigned long long*>(rows), row_bytes / 8, count,
                                          first, wrong);
  check_launch();
}

void kernels::trap(cudaStream_t stream) {
  trap_kernel<<<1, 1, 0, stream>>>();
  check_launch();
}
