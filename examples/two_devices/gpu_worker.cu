// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <penstock/interop/cuda.hpp>

#include "worker.hpp"

namespace ps = penstock;

namespace {

void must(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

struct DeviceNumbers {
  float at[inputs];
};

// Each thread does one weight, because the parts are small.
__global__ void mean_gradient_kernel(const float* x, const float* y, std::uint64_t rows, DeviceNumbers weights,
                                     float* to) {
  const unsigned mine = threadIdx.x;
  float sum = 0;
  for (std::uint64_t row = 0; row < rows; ++row) {
    float error = -y[row];
    for (unsigned i = 0; i < inputs; ++i) error += weights.at[i] * x[row * inputs + i];
    sum += error * x[row * inputs + mine] / static_cast<float>(rows);
  }
  to[mine] = sum;
}

class GpuWorker final : public Worker {
 public:
  explicit GpuWorker(int index) : index_(index) {
    must(cudaSetDevice(index_));
    must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    must(cudaMalloc(reinterpret_cast<void**>(&gradient_), sizeof(DeviceNumbers)));
  }
  ~GpuWorker() override {
    static_cast<void>(cudaSetDevice(index_));
    static_cast<void>(cudaStreamSynchronize(stream_));
    static_cast<void>(cudaFree(gradient_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }
  ps::Device device() const override { return ps::gpu(index_); }
  ps::StreamRef stream() const override { return ps::stream_ref(stream_); }
  void begin(const ps::Batch& part, const Numbers& weights) override {
    DeviceNumbers numbers;
    for (std::size_t i = 0; i < weights.size(); ++i) numbers.at[i] = weights[i];
    must(cudaSetDevice(index_));  // a kernel's stream has to be of the current device
    mean_gradient_kernel<<<1, inputs, 0, stream_>>>(reinterpret_cast<const float*>(part["x"].data),
                                                    reinterpret_cast<const float*>(part["y"].data), part.size(),
                                                    numbers, gradient_);
    must(cudaGetLastError());
  }
  Numbers gradient() override {
    Numbers out;
    must(cudaSetDevice(index_));
    must(cudaMemcpyAsync(out.data(), gradient_, sizeof(DeviceNumbers), cudaMemcpyDeviceToHost, stream_));
    must(cudaStreamSynchronize(stream_));
    return out;
  }

 private:
  int index_;
  cudaStream_t stream_ = nullptr;
  float* gradient_ = nullptr;
};

}  // namespace

std::vector<std::unique_ptr<Worker>> two_gpu_workers() {
  std::vector<std::unique_ptr<Worker>> workers;
  int count = 0;
  if (ps::best_device() == ps::host()) return workers;
  must(cudaGetDeviceCount(&count));
  for (int i = 0; count >= 2 && i < 2; ++i) workers.push_back(std::make_unique<GpuWorker>(i));
  return workers;
}
