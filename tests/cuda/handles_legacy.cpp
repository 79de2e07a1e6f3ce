// SPDX-License-Identifier: Apache-2.0
#include "cuda/handles.hpp"

#include <penstock/interop/cuda.hpp>

namespace handles {
cudaStream_t legacy(cudaStream_t stream) { return penstock::cuda_detail::resolved(stream); }
penstock::StreamRef legacy_ref(cudaStream_t stream) { return penstock::stream_ref(stream); }
}  // namespace handles
