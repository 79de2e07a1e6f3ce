// SPDX-License-Identifier: Apache-2.0
#include "cuda_device.hpp"

#include <algorithm>
#include <type_traits>

#include "cuda_error.hpp"
#include "cuda_scope.hpp"

namespace penstock::detail {

namespace {

cudaStream_t handle_of(StreamRef stream) noexcept { return static_cast<cudaStream_t>(stream.handle()); }

std::string describe_gpu(int index) {
  cudaDeviceProp properties = {};
  check_cuda(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  return std::string(properties.name) + ", compute capability " + std::to_string(properties.major) + "." +
         std::to_string(properties.minor) + ", " + std::to_string((properties.totalGlobalMem + GiB(1) / 2) / GiB(1)) +
         " GiB";
}

}  // namespace

class CudaDevice::OwnStream final : public Stream {
 public:
  OwnStream(int index, cudaStream_t handle) : index_(index), handle_(handle) {}
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() override {
    try {
      const CudaScope scope(index_);
      forget_cuda(cudaStreamSynchronize(handle_));
      forget_cuda(cudaStreamDestroy(handle_));
    } catch (...) {  // the process ends, or the device is gone; then the stream is gone too
    }
  }
  StreamRef ref() const noexcept override { return StreamRef::of(handle_, gpu(index_)); }

 private:
  int index_;
  cudaStream_t handle_;
};

class CudaDevice::OwnEvent final : public Event {
 public:
  OwnEvent(int index, cudaEvent_t handle) : index_(index), handle_(handle) {}
  OwnEvent(const OwnEvent&) = delete;
  OwnEvent& operator=(const OwnEvent&) = delete;
  ~OwnEvent() override {
    try {
      const CudaScope scope(index_);
      forget_cuda(cudaEventDestroy(handle_));
    } catch (...) {  // the process ends, or the device is gone; then the event is gone too
    }
  }
  static cudaEvent_t of(const Event& event) noexcept { return static_cast<const OwnEvent&>(event).handle_; }

 private:
  int index_;
  cudaEvent_t handle_;
};

class CudaDevice::OwnTimer final : public Timer {
 public:
  explicit OwnTimer(int index) : begin_(make(index)), end_(make(index)) {}
  void begin(StreamRef stream) override { check_cuda(cudaEventRecord(begin_.get(), handle_of(stream)), record_call); }
  void end(StreamRef stream) override { check_cuda(cudaEventRecord(end_.get(), handle_of(stream)), record_call); }
  std::optional<std::uint64_t> read() override {
    const cudaError_t code = cudaEventQuery(end_.get());
    if (code == cudaErrorNotReady) {
      forget_cuda(code);
      return std::nullopt;
    }
    check_cuda(code, "cudaEventQuery");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, begin_.get(), end_.get()), "cudaEventElapsedTime");
    return static_cast<std::uint64_t>(std::max(0.0f, ms) * 1e6);
  }

 private:
  static constexpr const char* record_call = "cudaEventRecord";
  struct Destroy {
    int index = 0;
    void operator()(cudaEvent_t event) const noexcept {
      try {
        const CudaScope scope(index);
        forget_cuda(cudaEventDestroy(event));
      } catch (...) {  // the process ends, or the device is gone; then the event is gone too
      }
    }
  };
  using Owned = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Destroy>;
  static Owned make(int index) {
    cudaEvent_t event = nullptr;
    check_cuda(cudaEventCreate(&event), "cudaEventCreate");
    return Owned(event, Destroy{index});
  }
  Owned begin_, end_;
};

CudaDevice::CudaDevice(int index, const CudaLimits& limits) : index_(index), pinned_memory_(index) {
  open_cuda_context(index_);
  const CudaScope scope(index_);
  name_ = describe_gpu(index_);
  device_memory_.emplace(index_, limits.device_bytes);
}
CudaDevice::~CudaDevice() = default;

int CudaDevice::enter() { return enter_cuda(index_); }
void CudaDevice::leave(int before) noexcept { leave_cuda(before); }

std::unique_ptr<DeviceModel::Stream> CudaDevice::make_stream(const char*, Priority priority) {
  int least = 0, greatest = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t handle = nullptr;
  check_cuda(
      cudaStreamCreateWithPriority(&handle, cudaStreamNonBlocking, priority == Priority::high ? greatest : least),
      "cudaStreamCreateWithPriority");
  try {
    return std::make_unique<OwnStream>(index_, handle);
  } catch (...) {
    forget_cuda(cudaStreamDestroy(handle));
    throw;
  }
}

std::unique_ptr<DeviceModel::Event> CudaDevice::make_event() {
  cudaEvent_t handle = nullptr;
  // Without `cudaEventBlockingSync`, a thread that waits for the event would spin on a core that the runners need.
  check_cuda(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming | cudaEventBlockingSync),
             "cudaEventCreateWithFlags");
  try {
    return std::make_unique<OwnEvent>(index_, handle);
  } catch (...) {
    forget_cuda(cudaEventDestroy(handle));
    throw;
  }
}

std::unique_ptr<DeviceModel::Timer> CudaDevice::make_timer() { return std::make_unique<OwnTimer>(index_); }

void CudaDevice::copy(void* to, const void* from, std::size_t bytes, StreamRef stream) {
  check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, handle_of(stream)), "cudaMemcpyAsync");
}

void CudaDevice::record(Event& event, StreamRef stream) {
  check_cuda(cudaEventRecord(OwnEvent::of(event), handle_of(stream)), "cudaEventRecord");
}

void CudaDevice::wait(StreamRef stream, const Event& event) {
  check_cuda(cudaStreamWaitEvent(handle_of(stream), OwnEvent::of(event), 0), "cudaStreamWaitEvent");
}

void CudaDevice::synchronize(const Event& event) {
  check_cuda(cudaEventSynchronize(OwnEvent::of(event)), "cudaEventSynchronize");
}

void CudaDevice::synchronize(StreamRef stream) {
  check_cuda(cudaStreamSynchronize(handle_of(stream)), "cudaStreamSynchronize");
}

bool CudaDevice::reached(const Event& event) {
  const cudaError_t code = cudaEventQuery(OwnEvent::of(event));
  if (code == cudaErrorNotReady) {
    forget_cuda(code);
    return false;
  }
  check_cuda(code, "cudaEventQuery");
  return true;
}

bool CudaDevice::settle() noexcept {
  const cudaError_t code = cudaDeviceSynchronize();
  forget_cuda(code);
  return !refused_for_capture(code);
}

bool CudaDevice::captures(StreamRef stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t code = cudaStreamIsCapturing(handle_of(stream), &status);
  // With this code, `stream` is the legacy stream, and the legacy stream waits for a stream that is being captured. An
  // event on the legacy stream would spoil the graph.
  if (code == cudaErrorStreamCaptureImplicit) {
    forget_cuda(code);
    return true;
  }
  check_cuda(code, "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace penstock::detail
