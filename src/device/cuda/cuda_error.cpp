// SPDX-License-Identifier: Apache-2.0
#include "cuda_error.hpp"

#include <string>

namespace penstock::detail {

Error cuda_error(cudaError_t code, std::string_view call, std::string_view what_to_lower) {
  forget_cuda(code);
  std::string text(call);
  text += ": " + std::string(cudaGetErrorName(code)) + " (" + std::to_string(static_cast<int>(code)) +
          "): " + cudaGetErrorString(code);
  if (code != cudaErrorMemoryAllocation) return {Errc::device, std::move(text)};
  return {Errc::out_of_memory, text + "; lower " + std::string(what_to_lower)};
}

void check_cuda(cudaError_t code, std::string_view call) {
  if (code != cudaSuccess) throw cuda_error(code, call);
}

bool refused_for_capture(cudaError_t code) noexcept {
  switch (code) {
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorStreamCaptureMerge:
    case cudaErrorStreamCaptureUnmatched:
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureImplicit:
    case cudaErrorCapturedEvent:
    case cudaErrorStreamCaptureWrongThread:
      return true;
    default:
      return false;
  }
}

bool cannot_pin(cudaError_t code) noexcept {
  return code == cudaErrorMemoryAllocation || code == cudaErrorNotSupported || code == cudaErrorNotPermitted ||
         code == cudaErrorOperatingSystem;
}

void forget_cuda(cudaError_t code) noexcept {
  // Calls cudaGetLastError only once. Without a driver, or if the context is gone, cudaGetLastError returns the same
  // error every time, so a loop until success would never end.
  if (code != cudaSuccess && code != cudaErrorCudartUnloading) static_cast<void>(cudaGetLastError());
}

}  // namespace penstock::detail
