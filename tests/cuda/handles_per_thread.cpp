// SPDX-License-Identifier: Apache-2.0
// As `--default-stream per-thread`, and this macro on a command line, have it.
#define CUDA_API_PER_THREAD_DEFAULT_STREAM 1  // NOLINT(readability-identifier-naming): CUDA's
#include "cuda/handles.hpp"

#include <penstock/interop/cuda.hpp>

namespace handles {
cudaStream_t per_thread(cudaStream_t stream) { return penstock::cuda_detail::resolved(stream); }
penstock::StreamRef per_thread_ref(cudaStream_t stream) { return penstock::stream_ref(stream); }
}  // namespace handles
