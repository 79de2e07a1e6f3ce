#include "cuda_scope.hpp"

#include "cuda_error.hpp"

namespace penstock::detail {

namespace {

// Device and capture mode in one number.
constexpr int capture_modes = 4;

void exchange_mode(cudaStreamCaptureMode& mode) {
  check_cuda(cudaThreadExchangeStreamCaptureMode(&mode), "cudaThreadExchangeStreamCaptureMode");
}

}  // namespace

int enter_cuda(int index) {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  // In the other modes a call of ours that might wait would spoil a graph that another thread is capturing.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  exchange_mode(mode);
  const int before = device * capture_modes + static_cast<int>(mode);
  if (device != index) {
    const cudaError_t code = cudaSetDevice(index);
    if (code != cudaSuccess) {
      Error error = cuda_error(code, "cudaSetDevice");
      leave_cuda(before);
      throw Error(error);
    }
  }
  return before;
}

void leave_cuda(int before) noexcept {
  int device = 0;
  const cudaError_t code = cudaGetDevice(&device);
  forget_cuda(code);
  if (code != cudaSuccess || device != before / capture_modes) forget_cuda(cudaSetDevice(before / capture_modes));
  auto mode = static_cast<cudaStreamCaptureMode>(before % capture_modes);
  forget_cuda(cudaThreadExchangeStreamCaptureMode(&mode));
}

}  // namespace penstock::detail
