// SPDX-License-Identifier: Apache-2.0
// Loads images and runs this program's own kernel on each batch, on the device where the batch is delivered. Then
// compares every byte with the same arithmetic on the host:
//
//     own_kernel [--emulated | --gpu] the best device there is; one that the host emulates; a GPU or exit status 77
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <penstock/emulated_gpu.hpp>
#include <penstock/penstock.hpp>

#ifdef OWN_KERNEL_CUDA
#include <cuda_runtime_api.h>
#include <penstock/interop/cuda.hpp>
#endif

#include "brighten.hpp"

namespace ps = penstock;

namespace {

constexpr std::int64_t side = 32;
constexpr std::size_t row_bytes = side * side * 3;

std::uint8_t value_at(std::uint64_t record, std::uint64_t i) { return static_cast<std::uint8_t>(record * 31 + i * 7); }

struct Images {
  std::uint64_t size() const { return 100; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {side, side, 3}}}; }
  void read(std::uint64_t record, ps::SampleBuilder& out) const {
    std::uint64_t i = 0;
    for (std::uint8_t& v : out.emplace<std::uint8_t, 3>("image", {side, side, 3})) v = value_at(record, i++);
  }
};

// A device for this program's work: the consumer's stream, and a way to copy a field of a batch to the host.
class Worker {
 public:
  virtual ~Worker() = default;
  virtual ps::Device device() const { return ps::host(); }
  virtual ps::StreamRef stream() const { return {}; }
  // Copies after all work that is on the stream. Returns when the bytes are on the host.
  virtual void copy(void* to, const ps::TensorView& from) { std::memcpy(to, from.data, from.bytes()); }
};

class EmulatedWorker final : public Worker {
 public:
  ps::Device device() const override { return gpu_.device(); }
  ps::StreamRef stream() const override { return stream_.ref(); }
  void copy(void* to, const ps::TensorView& from) override {
    stream_.launch("copy", [=] { std::memcpy(to, from.data, from.bytes()); }, {{from.data, from.bytes(), false}});
    stream_.synchronize();
  }

 private:
  ps::EmulatedGpu gpu_{{.mode = ps::EmulatedGpuOptions::Mode::late, .checked = true}};
  ps::EmulatedGpu::Stream stream_ = gpu_.make_stream("consumer");
};

#ifdef OWN_KERNEL_CUDA
void must(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

class GpuWorker final : public Worker {
 public:
  GpuWorker() { must(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  GpuWorker(const GpuWorker&) = delete;
  GpuWorker& operator=(const GpuWorker&) = delete;
  ~GpuWorker() override { static_cast<void>(cudaStreamDestroy(stream_)); }
  ps::Device device() const override { return ps::gpu(0); }
  ps::StreamRef stream() const override { return ps::stream_ref(stream_); }
  void copy(void* to, const ps::TensorView& from) override {
    must(cudaMemcpyAsync(to, from.data, from.bytes(), cudaMemcpyDeviceToHost, stream_));
    must(cudaStreamSynchronize(stream_));
  }

 private:
  cudaStream_t stream_ = nullptr;
};
#endif

std::unique_ptr<Worker> make_worker(const std::string& word) {
  if (word == "--emulated") return std::make_unique<EmulatedWorker>();
#ifdef OWN_KERNEL_CUDA
  if (ps::best_device() != ps::host()) return std::make_unique<GpuWorker>();
#endif
  return std::make_unique<Worker>();
}

int run(const std::string& word) {
  constexpr int skipped = 77;
  const auto worker = make_worker(word);  // destroyed after the loader, which uses the worker's stream
  if (word == "--gpu" && worker->device() != ps::gpu(0)) {
    std::printf("SKIPPED: %s\n", ps::device_support().c_str());
    return skipped;
  }
  const auto pipeline = ps::from(Images{}) | ps::shuffle({.seed = 7}) | ps::batch(16) | Brighten{};
  ps::Loader loader(pipeline, {.device = worker->device(), .epochs = 2});
  std::vector<std::uint8_t> image(16 * row_bytes);
  std::vector<Light> lights(16);
  std::uint64_t rows = 0, wrong = 0, unchanged = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const ps::Batch& batch : loader.epoch(worker->stream())) {
      worker->copy(image.data(), batch["image"]);
      worker->copy(lights.data(), batch["light"]);
      for (std::uint64_t row = 0; row < batch.size(); ++row, ++rows) {
        unchanged += lights[row].gain == 256 && lights[row].shift == 0 ? 1u : 0u;
        for (std::uint64_t i = 0; i < row_bytes; ++i)
          wrong += image[row * row_bytes + i] != brighter(value_at(batch.indices()[row], i), lights[row]) ? 1u : 0u;
      }
    }
  std::printf("on %s: %llu images, %llu bytes differ from the host's\n", ps::to_string(worker->device()).c_str(),
              static_cast<unsigned long long>(rows), static_cast<unsigned long long>(wrong));
  return rows == 200 && wrong == 0 && unchanged < 20 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc == 2 ? argv[1] : "";
  if (argc > 2 || (argc == 2 && word != "--emulated" && word != "--gpu")) {
    std::fprintf(stderr, "usage: own_kernel [--emulated | --gpu]\n");
    return 2;
  }
  try {
    return run(word);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "own_kernel: %s\n", error.what());
    return 1;
  }
}
