// SPDX-License-Identifier: Apache-2.0
// Work for a GPU to do.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace penstock::gpu_bench {

// Keeps the stream busy for that long, and one core of the GPU.
void delay(cudaStream_t stream, double seconds);

// Ends this process's use of the GPU, as a defect in a kernel does.
void trap(cudaStream_t stream);

// Counts in *wrong the rows that do not begin and end with their own number: first + row, 8 bytes each. Rows are
// multiples of 8 bytes.
void check_rows(cudaStream_t stream, const void* rows, std::size_t row_bytes, std::uint64_t count, std::uint64_t first,
                unsigned long long* wrong);

// Numbers from -1 to 1, as random as training data: a GPU that multiplies constants draws less power, and runs faster.
void fill_halves(cudaStream_t stream, void* halves, std::size_t count, std::uint64_t seed);

// c = a * b, square matrices of halves; the side is a multiple of 32. Plain, so slower than cuBLAS by far.
void multiply_halves(cudaStream_t stream, int side, const void* a, const void* b, void* c);

// Adds 1 to `count` floats: as much memory traffic as a copy of as many bytes.
void add_one(cudaStream_t stream, float* values, std::size_t count);

}  // namespace penstock::gpu_bench
