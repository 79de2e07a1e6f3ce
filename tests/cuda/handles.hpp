// SPDX-License-Identifier: Apache-2.0
// The header of streams, compiled into files for either default stream.
#pragma once

#include <cuda_runtime_api.h>

#include <penstock/device.hpp>

namespace handles {

/// What the file for this default stream makes of a handle, and of a stream.
cudaStream_t legacy(cudaStream_t stream);
cudaStream_t per_thread(cudaStream_t stream);
penstock::StreamRef legacy_ref(cudaStream_t stream);
penstock::StreamRef per_thread_ref(cudaStream_t stream);

}  // namespace handles
