#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include <penstock/device.hpp>
#include <penstock/error.hpp>

#if CUDART_VERSION < 12080
#error "penstock/interop/cuda.hpp needs the CUDA toolkit 12.8 or newer"
#endif

namespace penstock {

// Files compiled for the one default stream and for the other get different functions. If these were the same inline
// functions, the linker would keep one of them, and handle 0 would mean the same in both kinds of file.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
inline namespace per_thread_default_stream {
#else
inline namespace legacy_default_stream {
#endif

namespace cuda_detail {

/// What handle 0 means in the including file.
inline cudaStream_t resolved(cudaStream_t stream) noexcept {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  return stream == nullptr ? cudaStreamPerThread : stream;
#else
  return stream == nullptr ? cudaStreamLegacy : stream;
#endif
}

inline void check(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // read, and told here
  throw Error(Errc::device, std::string(call) + ": " + cudaGetErrorName(code) + " (" +
                                std::to_string(static_cast<int>(code)) + "): " + cudaGetErrorString(code));
}

/// The device that a stream belongs to; of a default stream the current one. @throws Error(unsupported) for another
/// stream that is being captured, as asking for its device might spoil the graph.
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

/// The stream, for `next`, `epoch` and `also_used_on`. Owns nothing: the stream must live until all batches that were
/// used on it have come back. It belongs to its own device, whatever is the current one. Handle 0 is the default stream
/// that the including file is compiled for (legacy, or per thread), of the thread's current device. The default stream
/// per thread is another one on each thread: its batches must come back on the thread that took them. Any thread.
/// @throws Error(device); Error(unsupported) for a stream that is being captured into a graph: ask before that begins.
/// For a default stream this is noticed only when a batch is asked for.
inline StreamRef stream_ref(cudaStream_t stream) {
  const cudaStream_t handle = cuda_detail::resolved(stream);
  return StreamRef::of(handle, gpu(cuda_detail::device_of(handle)));
}

/// The way back, for kernels of one's own, in a `DeviceStage` for instance. @throws Error(invalid_argument) for the
/// host's stream, or one of an emulated device.
inline cudaStream_t cuda_stream(StreamRef stream) {
  if (stream.device().kind != Device::Kind::gpu)
    throw Error(Errc::invalid_argument, "a stream of " + to_string(stream.device()) + " is no stream of CUDA's");
  return static_cast<cudaStream_t>(stream.handle());
}

}  // inline namespace

}  // namespace penstock
