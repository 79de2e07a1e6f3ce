// SPDX-License-Identifier: Apache-2.0
#include "cuda_help.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include <penstock/interop/cuda.hpp>

namespace penstock::gpu_bench {

namespace {

constexpr std::size_t page = 4096;

void forget(cudaError_t code) {
  if (code != cudaSuccess) static_cast<void>(cudaGetLastError());
}

cudaMemPool_t make_host_pool() {
  int device = 0, supported = 0;
  must(cudaGetDevice(&device), "cudaGetDevice");
  must(cudaDeviceGetAttribute(&supported, cudaDevAttrHostMemoryPoolsSupported, device), "cudaDeviceGetAttribute");
  if (supported == 0) throw std::runtime_error("this GPU's driver has no memory pools on the host");
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location.type = cudaMemLocationTypeHost;
  cudaMemPool_t pool = nullptr;
  must(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  cudaMemAccessDesc access = {};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = device;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  const cudaError_t code = cudaMemPoolSetAccess(pool, &access, 1);
  if (code != cudaSuccess) forget(cudaMemPoolDestroy(pool));
  must(code, "cudaMemPoolSetAccess");
  return pool;
}

}  // namespace

void must(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw std::runtime_error(std::string(call) + ": " + cudaGetErrorName(code) + ": " + cudaGetErrorString(code));
}

CudaStream::CudaStream(bool blocking) {
  must(cudaStreamCreateWithFlags(&handle_, blocking ? cudaStreamDefault : cudaStreamNonBlocking),
       "cudaStreamCreateWithFlags");
}
CudaStream::~CudaStream() {
  forget(cudaStreamSynchronize(handle_));
  forget(cudaStreamDestroy(handle_));
}
StreamRef CudaStream::ref() const { return stream_ref(handle_); }

CudaEvent::CudaEvent(bool timed) {
  must(cudaEventCreateWithFlags(&handle_, timed ? cudaEventDefault : cudaEventDisableTiming),
       "cudaEventCreateWithFlags");
}
CudaEvent::~CudaEvent() {
  if (handle_ != nullptr) forget(cudaEventDestroy(handle_));
}
double CudaEvent::since(const CudaEvent& begin) const {
  float milliseconds = 0;
  must(cudaEventElapsedTime(&milliseconds, begin.handle_, handle_), "cudaEventElapsedTime");
  return 1e-3 * static_cast<double>(milliseconds);
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::pageable:
      return "pageable";
    case Kind::pinned:
      return "pinned";
    case Kind::write_combined:
      return "write-combined";
    case Kind::registered:
      return "registered";
    case Kind::host_pool:
      return "host pool";
    case Kind::device:
      return "device";
  }
  return "?";
}

Memory::Memory(Kind kind, std::size_t bytes) : kind_(kind), bytes_((bytes + page - 1) / page * page) {
  void* data = nullptr;
  switch (kind) {
    case Kind::pageable:
    case Kind::registered:
      data = std::aligned_alloc(page, bytes_);
      break;
    case Kind::pinned:
      must(cudaHostAlloc(&data, bytes_, cudaHostAllocPortable), "cudaHostAlloc");
      break;
    case Kind::write_combined:
      must(cudaHostAlloc(&data, bytes_, cudaHostAllocPortable | cudaHostAllocWriteCombined), "cudaHostAlloc");
      break;
    case Kind::host_pool: {
      pool_ = make_host_pool();
      // Uses a stream of its own, because other code may use the default stream.
      const CudaStream stream;
      const cudaError_t code = cudaMallocFromPoolAsync(&data, bytes_, pool_, stream.handle());
      if (code != cudaSuccess) forget(cudaMemPoolDestroy(pool_));
      must(code, "cudaMallocFromPoolAsync");
      stream.synchronize();
      break;
    }
    case Kind::device:
      must(cudaMalloc(&data, bytes_), "cudaMalloc");
      break;
  }
  if (data == nullptr) throw std::runtime_error("no memory on the host");
  data_ = static_cast<std::byte*>(data);
  if (kind == Kind::device) {
    must(cudaMemset(data_, 0, bytes_), "cudaMemset");
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return;
  }
  std::memset(data_, 1, bytes_);
  if (kind == Kind::registered) {
    const cudaError_t code = cudaHostRegister(data_, bytes_, cudaHostRegisterPortable);
    if (code != cudaSuccess) std::free(data_);
    must(code, "cudaHostRegister");
  }
}

Memory::~Memory() {
  switch (kind_) {
    case Kind::registered:
      forget(cudaHostUnregister(data_));
      [[fallthrough]];
    case Kind::pageable:
      std::free(data_);
      break;
    case Kind::pinned:
    case Kind::write_combined:
      forget(cudaFreeHost(data_));
      break;
    case Kind::host_pool:
      forget(cudaDeviceSynchronize());
      forget(cudaFreeAsync(data_, cudaStreamPerThread));
      forget(cudaStreamSynchronize(cudaStreamPerThread));
      forget(cudaMemPoolDestroy(pool_));
      break;
    case Kind::device:
      forget(cudaFree(data_));
      break;
  }
}

double time_on(const CudaStream& stream, int times, const std::function<void()>& enqueue) {
  const CudaEvent begin, end;
  enqueue();
  begin.record(stream.handle());
  for (int i = 0; i < times; ++i) enqueue();
  end.record(stream.handle());
  end.synchronize();
  return end.since(begin);
}

double time_beside(const CudaStream& stream, int times, const std::function<void()>& enqueue, double each,
                   const CudaStream& other, const std::function<void()>& beside, double each_beside) {
  const CudaEvent begin, end, other_begun(false), other_end;
  for (double longer = 1.5; longer < 20; longer *= 2) {
    beside();
    other_begun.record(other.handle());
    const double needed = longer * (times + 1) * each / each_beside;
    for (int i = 0; i < static_cast<int>(needed) + 2; ++i) beside();
    other_end.record(other.handle());
    other_begun.wait_on(stream.handle());
    enqueue();
    begin.record(stream.handle());
    for (int i = 0; i < times; ++i) enqueue();
    end.record(stream.handle());
    end.synchronize();
    other_end.synchronize();
    if (other_end.since(end) > 0) return end.since(begin);
  }
  throw std::runtime_error("what was to run beside something else ended before it");
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace penstock::gpu_bench
