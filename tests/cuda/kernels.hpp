// Work for a GPU to do.
#pragma once

#include <chrono>

#include <cuda_runtime_api.h>

namespace kernels {

/// Keeps the stream busy for that long, and one core of the GPU.
void delay(cudaStream_t stream, std::chrono::nanoseconds time);
/// Ends this process's use of the GPU, as a defect in a kernel does.
void trap(cudaStream_t stream);

}  // namespace kernels
