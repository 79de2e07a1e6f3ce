// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

#include <penstock/error.hpp>

namespace penstock::detail {

/// Returns the failure of a CUDA call in words: Errc::out_of_memory, with the advice to lower `what_to_lower`, or
/// Errc::device. Clears it in the runtime, so no later call reports it again; a failure that ended the context stays.
/// `call`: the function's name.
Error cuda_error(cudaError_t code, std::string_view call,
                 std::string_view what_to_lower = "`device_depth`, `depth` or the batch size");

/// Checks the result of a call. @throws Error(out_of_memory | device) if it failed.
void check_cuda(cudaError_t code, std::string_view call);

/// Returns whether a call was refused because a graph is being captured; everything else may continue.
bool refused_for_capture(cudaError_t code) noexcept;

/// Returns whether a call that pins memory failed because memory can't be pinned. Ordinary memory works then.
bool cannot_pin(cudaError_t code) noexcept;

/// Ignores the failure of a call that no longer matters: in destructors, and while the process ends.
void forget_cuda(cudaError_t code) noexcept;

/// Returns the result of `take`. If that is "out of memory", calls `make_room` and then `take` again.
template <class Take, class MakeRoom>
cudaError_t with_second_try(Take&& take, MakeRoom&& make_room) {
  const cudaError_t code = take();
  if (code != cudaErrorMemoryAllocation) return code;
  forget_cuda(code);
  make_room();
  return take();
}

}  // namespace penstock::detail
