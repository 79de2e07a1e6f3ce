#pragma once

#include <string_view>

#include <cuda_runtime_api.h>

#include <penstock/error.hpp>

namespace penstock::detail {

/// What a call of CUDA's gave back, in words: Errc::out_of_memory, which says to lower `what_to_lower`, or
/// Errc::device. The runtime forgets it, so that no later call reports it once more; what ended the context stays.
/// `call`: the function's name.
Error cuda_error(cudaError_t code, std::string_view call,
                 std::string_view what_to_lower = "`device_depth`, `depth` or the batch size");

/// @throws Error(out_of_memory | device) unless the call went well.
void check_cuda(cudaError_t code, std::string_view call);

/// Whether a call was not made because a graph is being captured; all else there is may go on.
bool refused_for_capture(cudaError_t code) noexcept;

/// Whether a call that pins memory failed because that can't be: ordinary memory will do.
bool cannot_pin(cudaError_t code) noexcept;

/// For calls whose failure changes nothing any more: in destructors, and while the process ends.
void forget_cuda(cudaError_t code) noexcept;

/// What `take` gives back; where that is "out of memory", once more after `make_room`.
template <class Take, class MakeRoom>
cudaError_t with_second_try(Take&& take, MakeRoom&& make_room) {
  const cudaError_t code = take();
  if (code != cudaErrorMemoryAllocation) return code;
  forget_cuda(code);
  make_room();
  return take();
}

}  // namespace penstock::detail
