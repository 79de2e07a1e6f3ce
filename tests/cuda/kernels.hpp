// SPDX-License-Identifier: Apache-2.0
// Work for a GPU to do.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace kernels {

/// Keeps the stream busy for that long, and one core of the GPU.
void delay(cudaStream_t stream, std::chrono::nanoseconds time);
/// Copies on the GPU's cores, not by a copy engine. The number of bytes is a multiple of 8.
void copy_bytes(cudaStream_t stream, std::byte* to, const std::byte* from, std::size_t bytes);
/// Counts in *wrong the rows that do not begin and end with their own number: first + row, 8 bytes each.
void check_rows(cudaStream_t stream, const std::byte* rows, std::size_t row_bytes, std::uint64_t count,
                std::uint64_t first, unsigned long long* wrong);
/// Ends this process's use of the GPU, as a defect in a kernel does.
void trap(cudaStream_t stream);

}  // namespace kernels
