// SPDX-License-Identifier: Apache-2.0
// CUDA's things with an end, and CUDA's errors as exceptions.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <penstock/device.hpp>

namespace penstock::gpu_bench {

// @throws std::runtime_error that names `call`, unless it went well.
void must(cudaError_t code, const char* call);

// Does not wait for the legacy default stream, unless it is `blocking`.
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

// An event that has a time, unless it is only for order.
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
  // Seconds from `begin` to this event; both must have been reached.
  double since(const CudaEvent& begin) const;

 private:
  cudaEvent_t handle_ = nullptr;
};

enum class Kind { pageable, pinned, write_combined, registered, host_pool, device };
const char* name_of(Kind kind);

// Memory of one kind; all of it has been touched.
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

// Seconds that the stream needs for `times` of what `enqueue` puts there, after one that is not counted.
double time_on(const CudaStream& stream, int times, const std::function<void()>& enqueue);

// Seconds that the stream needs, as `time_on`, while `beside` is enqueued on a stream of its own as often as is needed
// for that to go on all the time; no event orders one after the other. `each` and `each_beside`: about how long one
// takes alone. @throws std::runtime_error if `beside` ended too early even so.
double time_beside(const CudaStream& stream, int times, const std::function<void()>& enqueue, double each,
                   const CudaStream& other, const std::function<void()>& beside, double each_beside);

double wall_seconds();
double median_of(std::vector<double> values);

}  // namespace penstock::gpu_bench
