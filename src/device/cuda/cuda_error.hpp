// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

#include <penstock/error.hpp>

namespace penstock::detail {

/// Returns an Error for the failure of a CUDA call. If memory ran out, the error is Errc::out_of_memory, and advises to
/// lower `what_to_lower`. Otherwise it is Errc::device. Clears the failure in the runtime, so that no later call
/// reports it again; a failure that ended the context can't be cleared. `call`: the name of the function that failed.
Error cuda_error(cudaError_t code, std::string_view call,
                 std::string_view what_to_lower = "`device_depth`, `depth` or the batch size");

/// Checks the result of a call. @throws Error(out_of_memory | device) if it failed.
void check_cuda(cudaError_t code, std::string_view call);

/// Returns whether a call was refused only because a graph is being captured. Then the context is still usable.
bool refused_for_capture(cudaError_t code) noexcept;

/// Returns whether a call that pins memory failed because memory can't be pinned. Ordinary memory works then.
bool cannot_pin(cudaError_t code) noexcept;

/// Clears the failure of a call in the runtime, so that no later call reports it. Call it for a failure that is not
/// reported as an Error.
void forget_cuda(cudaError_t code) noexcept;

/// Calls `take` and returns its result. If memory ran out, calls `make_room`, and then `take` again.
template <class Take, class MakeRoom>
cudaError_t with_second_try(Take&& take, MakeRoom&& make_room) {
  const cudaError_t code = take();
  if (code != cudaErrorMemoryAllocation) return code;
  forget_cuda(code);
  make_room();
  return take();
}

}  // namespace penstock::detail
