// SPDX-License-Identifier: Apache-2.0
// Kernels that give a GPU work.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace penstock::gpu_bench {

// Keeps the stream and one core of the GPU busy for `seconds`.
void delay(cudaStream_t stream, double seconds);

// Makes the GPU unusable for this process, like a defect in a kernel.
void trap(cudaStream_t stream);

// Counts in *wrong the rows that do not begin and end with their number, which is first + row in 8 bytes. `row_bytes`
// must be a multiple of 8.
void check_rows(cudaStream_t stream, const void* rows, std::size_t row_bytes, std::uint64_t count, std::uint64_t first,
                unsigned long long* wrong);

// Fills memory with random numbers from -1 to 1, like training data. A GPU that multiplies constants draws less power,
// so it runs faster.
void fill_halves(cudaStream_t stream, void* halves, std::size_t count, std::uint64_t seed);

// Computes c = a * b for square matrices of halves, whose side is a multiple of 32. The kernel is plain, so it is much
// slower than cuBLAS.
void multiply_halves(cudaStream_t stream, int side, const void* a, const void* b, void* c);

// Adds 1 to `count` floats. This has as much memory traffic as a copy of these floats.
void add_one(cudaStream_t stream, float* values, std::size_t count);

}  // namespace penstock::gpu_bench
