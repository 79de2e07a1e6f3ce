// SPDX-License-Identifier: Apache-2.0
// Owners of CUDA's streams, events and memory; and CUDA's errors as exceptions.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <penstock/device.hpp>

namespace penstock::gpu_bench {

// @throws std::runtime_error, which names `call`, if `code` is an error.
void must(cudaError_t code, const char* call);

// A stream. It waits for the legacy default stream only if it is `blocking`.
class CudaStream {
 public:
  explicit CudaStream(bool blocking = false);
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream();
  cudaStream_t handle() const { return handle_; }
  StreamRef ref() const;
  void synchronize() const { must(cudaStreamSynchronize(handle_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t handle_ = nullptr;
};

// An event. If it is not `timed`, it only orders work.
class CudaEvent {
 public:
  explicit CudaEvent(bool timed = true);
  CudaEvent(CudaEvent&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  CudaEvent& operator=(CudaEvent&&) = delete;
  ~CudaEvent();
  cudaEvent_t handle() const { return handle_; }
  void record(cudaStream_t stream) const { must(cudaEventRecord(handle_, stream), "cudaEventRecord"); }
  void wait_on(cudaStream_t stream) const { must(cudaStreamWaitEvent(stream, handle_, 0), "cudaStreamWaitEvent"); }
  void synchronize() const { must(cudaEventSynchronize(handle_), "cudaEventSynchronize"); }
  // Returns the seconds from `begin` to this event. REQUIRES: both events have been reached.
  double since(const CudaEvent& begin) const;

 private:
  cudaEvent_t handle_ = nullptr;
};

enum class Kind { pageable, pinned, write_combined, registered, host_pool, device };
const char* name_of(Kind kind);

// Memory of one kind, whose pages have all been touched.
class Memory {
 public:
  Memory(Kind kind, std::size_t bytes);
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();
  std::byte* data() const { return data_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  Kind kind_;
  std::size_t bytes_;
  std::byte* data_ = nullptr;
  cudaMemPool_t pool_ = nullptr;
};

inline void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  must(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
}

// Calls `enqueue` once without timing it, then `times` times. Returns the seconds that the stream needs for those.
double time_on(const CudaStream& stream, int times, const std::function<void()>& enqueue);

// Like `time_on`, while the stream `other` does the work of `beside` all the time. No event orders the two streams.
// `each` and `each_beside`: about how many seconds the work of one call takes alone. @throws std::runtime_error if the
// work of `beside` ended too early.
double time_beside(const CudaStream& stream, int times, const std::function<void()>& enqueue, double each,
                   const CudaStream& other, const std::function<void()>& beside, double each_beside);

double wall_seconds();
double median_of(std::vector<double> values);

}  // namespace penstock::gpu_bench
