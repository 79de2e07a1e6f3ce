// SPDX-License-Identifier: Apache-2.0
// A step that was captured into a graph, and batches that come to its addresses.
#include "support/catch.hpp"

#include <cstring>

#include "cuda/gpu_help.hpp"

using namespace help;

namespace {

// Memory of a GPU, for as long as a test lasts.
class OnGpu {
 public:
  explicit OnGpu(std::size_t bytes) { must(cudaMalloc(&data_, bytes)); }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu() { static_cast<void>(cudaFree(data_)); }
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

}  // namespace

TEST_CASE("a graph that is launched for each batch reads that batch at its fixed addresses") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  constexpr std::int64_t rows = 4, width = 2048;
  constexpr std::size_t x_bytes = rows * width * 4, y_bytes = rows * 8, batch_bytes = x_bytes + y_bytes;
  const auto pipeline = ps::from(Records{.count = 64, .width = width}) | ps::shuffle() | ps::batch(rows);
  const std::vector<Got> expected = collect(pipeline, {.threads = 1});
  const OnGpu x(x_bytes), y(y_bytes), result(batch_bytes);
  void* seen = nullptr;
  must(cudaHostAlloc(&seen, batch_bytes * expected.size(), cudaHostAllocDefault));
  const GpuStream stream;
  // The step: slow, so that the next batch comes while it has hardly begun.
  must(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeThreadLocal));
  kernels::delay(stream.handle(), 5ms);
  must(cudaMemcpyAsync(result.data(), x.data(), x_bytes, cudaMemcpyDeviceToDevice, stream.handle()));
  must(cudaMemcpyAsync(result.data() + x_bytes, y.data(), y_bytes, cudaMemcpyDeviceToDevice, stream.handle()));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t step = nullptr;
  must(cudaStreamEndCapture(stream.handle(), &graph));
  must(cudaGraphInstantiate(&step, graph, 0));

  ps::Loader loader(pipeline, {.device = ps::gpu(0), .threads = 2, .device_depth = 2});
  const ps::TensorView to[] = {{x.data(), ps::DType::u32, {rows, width}}, {y.data(), ps::DType::i64, {rows}}};
  std::size_t steps = 0;
  while (auto copied = loader.next_into(to, stream.ref())) {
    REQUIRE(steps < expected.size());
    must(cudaGraphLaunch(step, stream.handle()));
    must(cudaMemcpyAsync(static_cast<std::byte*>(seen) + steps * batch_bytes, result.data(), batch_bytes,
                         cudaMemcpyDeviceToHost, stream.handle()));
    ++steps;
  }
  stream.synchronize();
  CHECK(steps == expected.size());
  for (std::size_t i = 0; i < steps; ++i) {
    REQUIRE(expected[i].bytes.size() == batch_bytes);
    CHECK(std::memcmp(expected[i].bytes.data(), static_cast<std::byte*>(seen) + i * batch_bytes, batch_bytes) == 0);
  }
  must(cudaGraphExecDestroy(step));
  must(cudaGraphDestroy(graph));
  must(cudaFreeHost(seen));
}
