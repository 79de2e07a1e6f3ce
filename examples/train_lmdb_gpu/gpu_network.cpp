// SPDX-License-Identifier: Apache-2.0
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <penstock/interop/cuda.hpp>

#include "kernels.hpp"
#include "network.hpp"
#include "products.hpp"

namespace ps = penstock;

namespace {

void must(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(code));
}

// Owners of what the network uses on the GPU. They are destroyed with the network, in the right order.
struct OwnStream {
  OwnStream() { must(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() {
    static_cast<void>(cudaStreamSynchronize(handle));
    static_cast<void>(cudaStreamDestroy(handle));
  }
  cudaStream_t handle = nullptr;
};

// An array on the GPU, which begins as zeros.
template <class T>
struct OnGpu {
  explicit OnGpu(std::size_t n) : count(n) {
    must(cudaMalloc(reinterpret_cast<void**>(&data), n * sizeof(T)), "cudaMalloc");
    must(cudaMemset(data, 0, n * sizeof(T)), "cudaMemset");
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu() { static_cast<void>(cudaFree(data)); }
  std::size_t count;
  T* data = nullptr;
};

struct Parameters {
  explicit Parameters(const std::vector<float>& from)
      : value(from.size()), gradient(from.size()), velocity(from.size()) {
    must(cudaMemcpy(value.data, from.data(), from.size() * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  void step(cudaStream_t stream, float rate, float scale) {
    kernels::step(stream, value.data, velocity.data, gradient.data, value.count, momentum, rate, scale);
  }
  OnGpu<float> value, gradient, velocity;
};

// An event that has a time.
struct OwnEvent {
  OwnEvent() { must(cudaEventCreate(&handle), "cudaEventCreate"); }
  OwnEvent(const OwnEvent&) = delete;
  OwnEvent& operator=(const OwnEvent&) = delete;
  ~OwnEvent() { static_cast<void>(cudaEventDestroy(handle)); }
  cudaEvent_t handle = nullptr;
};

// Measures how long steps take on the GPU. A step begins when its batch is there, because the stream has waited for the
// batch before.
class StepTimes {
 public:
  void begin(cudaStream_t stream) {
    if (used_ == steps_.size()) steps_.emplace_back();
    must(cudaEventRecord(steps_[used_].begin.handle, stream), "cudaEventRecord");
  }
  void end(cudaStream_t stream) { must(cudaEventRecord(steps_[used_++].end.handle, stream), "cudaEventRecord"); }
  // Waits for the steps since the last call, and returns their seconds.
  double take_seconds() {
    double sum = 0;
    for (; used_ > 0; --used_) {
      float milliseconds = 0;
      must(cudaEventElapsedTime(&milliseconds, steps_[used_ - 1].begin.handle, steps_[used_ - 1].end.handle),
           "cudaEventElapsedTime");
      sum += 1e-3 * static_cast<double>(milliseconds);
    }
    return sum;
  }

 private:
  struct Step {
    OwnEvent begin, end;
  };
  std::deque<Step> steps_;
  std::size_t used_ = 0;
};

class GpuNetwork final : public Network {
 public:
  GpuNetwork(const Sizes& sizes, MatrixProducts by) : GpuNetwork(sizes, Weights(sizes), by) {}

  ps::Device device() const override { return ps::gpu(0); }
  ps::StreamRef stream() const override { return ps::stream_ref(stream_.handle); }

  void train(const ps::Batch& batch, float rate) override {
    times_.begin(stream_.handle);
    const std::size_t rows = forward(batch);
    const auto* const x = reinterpret_cast<const float*>(batch["image"].data);
    // Goes backwards through the layers. The first product is hidden^T [hidden, rows] * p [rows, classes].
    products_.multiply(true, false, sizes_.hidden, sizes_.classes, rows, hidden_.data, p_.data, w2_.gradient.data);
    kernels::sum_rows(stream_.handle, b2_.gradient.data, p_.data, rows, sizes_.classes);
    products_.multiply(false, true, rows, sizes_.hidden, sizes_.classes, p_.data, w2_.value.data, d_.data);
    kernels::relu_gradient(stream_.handle, d_.data, hidden_.data, rows * sizes_.hidden);
    products_.multiply(true, false, sizes_.features, sizes_.hidden, rows, x, d_.data, w1_.gradient.data);
    kernels::sum_rows(stream_.handle, b1_.gradient.data, d_.data, rows, sizes_.hidden);
    for (Parameters* p : {&w1_, &b1_, &w2_, &b2_}) p->step(stream_.handle, rate, 1.0f / static_cast<float>(rows));
    times_.end(stream_.handle);
  }

  void test(const ps::Batch& batch) override {
    times_.begin(stream_.handle);
    forward(batch);
    times_.end(stream_.handle);
  }

  Result result() override {
    kernels::Sums sums = {};
    must(cudaMemcpyAsync(&sums, sums_.data, sizeof sums, cudaMemcpyDeviceToHost, stream_.handle), "cudaMemcpyAsync");
    must(cudaMemsetAsync(sums_.data, 0, sizeof sums, stream_.handle), "cudaMemsetAsync");
    must(cudaStreamSynchronize(stream_.handle), "cudaStreamSynchronize");
    return {sums.loss, sums.right, std::exchange(rows_, 0), times_.take_seconds()};
  }

 private:
  GpuNetwork(const Sizes& sizes, const Weights& weights, MatrixProducts by)
      : sizes_(sizes),
        products_(stream_.handle, by),
        w1_(weights.w1),
        b1_(weights.b1),
        w2_(weights.w2),
        b2_(weights.b2),
        hidden_(sizes.max_rows * sizes.hidden),
        d_(sizes.max_rows * sizes.hidden),
        p_(sizes.max_rows * sizes.classes),
        sums_(1) {
    // Zeros and weights were copied on another stream, for which `stream_` does not wait.
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  // Computes the hidden layer and the gradient of the logits. Returns the number of rows.
  std::size_t forward(const ps::Batch& batch) {
    const std::size_t rows = batch.size();
    if (rows > sizes_.max_rows) throw std::runtime_error("a batch of more rows than the network was made for");
    const auto* const x = reinterpret_cast<const float*>(batch["image"].data);
    const auto* const labels = reinterpret_cast<const std::int64_t*>(batch["label"].data);
    products_.multiply(false, false, rows, sizes_.hidden, sizes_.features, x, w1_.value.data, hidden_.data);
    kernels::add_bias(stream_.handle, hidden_.data, b1_.value.data, rows, sizes_.hidden, true);
    products_.multiply(false, false, rows, sizes_.classes, sizes_.hidden, hidden_.data, w2_.value.data, p_.data);
    kernels::add_bias(stream_.handle, p_.data, b2_.value.data, rows, sizes_.classes, false);
    kernels::softmax_gradient(stream_.handle, p_.data, labels, rows, sizes_.classes, sums_.data);
    rows_ += rows;
    return rows;
  }

  const Sizes sizes_;
  OwnStream stream_;
  Products products_;
  Parameters w1_, b1_, w2_, b2_;
  OnGpu<float> hidden_, d_, p_;
  OnGpu<kernels::Sums> sums_;
  std::uint64_t rows_ = 0;
  StepTimes times_;
};

}  // namespace

std::unique_ptr<Network> gpu_network(const Sizes& sizes, MatrixProducts by) {
  must(cudaSetDevice(0), "cudaSetDevice");
  return std::make_unique<GpuNetwork>(sizes, by);
}
