// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include <penstock/device.hpp>
#include <penstock/error.hpp>

#if CUDART_VERSION < 12080
#error "penstock/interop/cuda.hpp needs the CUDA toolkit 12.8 or newer"
#endif

namespace penstock {

// A file is compiled either for the legacy default stream or for the default stream per thread. The functions below
// differ between the two kinds of files. If they were the same inline functions, the linker would keep only one, and
// handle 0 would mean the same stream in all files.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
inline namespace per_thread_default_stream {
#else
inline namespace legacy_default_stream {
#endif

namespace cuda_detail {

/// Returns the stream. For handle 0, returns the default stream that the including file is compiled for.
inline cudaStream_t resolved(cudaStream_t stream) noexcept {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  return stream == nullptr ? cudaStreamPerThread : stream;
#else
  return stream == nullptr ? cudaStreamLegacy : stream;
#endif
}

inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error, which is reported here
  throw Error(Errc::device, std::string(call) + ": " + cudaGetErrorName(code) + " (" +
                                std::to_string(static_cast<int>(code)) + "): " + cudaGetErrorString(code));
}

/// Returns the device that a stream belongs to. For a default stream, returns the current device.
/// @throws Error(unsupported) if a stream that is not a default stream is being captured, because asking for its device
/// might spoil the graph.
inline int device_of(cudaStream_t stream) {
  int device = 0;
  if (stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
  }
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  if (status != cudaStreamCaptureStatusNone)
    throw Error(Errc::unsupported,
                "the stream is being captured into a graph, which would repeat this batch for ever; take batches "
                "outside of the capture");
  check(cudaStreamGetDevice(stream, &device), "cudaStreamGetDevice");
  return device;
}

}  // namespace cuda_detail

/// Returns the stream for `next`, `epoch` and `also_used_on`. The result does not own the stream. The stream must live
/// until all batches that were used on it were given back. A stream that is not a default stream stays on its device,
/// whatever the current device is. Handle 0 is the default stream of the thread's current device: legacy or per thread,
/// as the including file is compiled. The default stream per thread is a different stream on each thread, so batches
/// that were used on it must be given back on the thread that took them. Any thread.
/// @throws Error(device); Error(unsupported) if the stream is being captured into a graph: call `stream_ref` before the
/// capture begins. If a default stream is being captured, the error comes only when a batch is asked for.
inline StreamRef stream_ref(cudaStream_t stream) {
  const cudaStream_t handle = cuda_detail::resolved(stream);
  return StreamRef::of(handle, gpu(cuda_detail::device_of(handle)));
}

/// Returns the CUDA stream of a StreamRef, for custom kernels, for example in a `DeviceStage`.
/// @throws Error(invalid_argument) if `stream` is the host's stream, or a stream of an emulated device.
inline cudaStream_t cuda_stream(StreamRef stream) {
  if (stream.device().kind != Device::Kind::gpu)
    throw Error(Errc::invalid_argument, "a stream of " + to_string(stream.device()) + " is no stream of CUDA's");
  return static_cast<cudaStream_t>(stream.handle());
}

}  // inline namespace

}  // namespace penstock
