// SPDX-License-Identifier: Apache-2.0
// Streams that are captured into graphs, beside loaders.
#include "support/catch.hpp"

#include "cuda/gpu_help.hpp"
#include "device/devices.hpp"

using namespace help;

TEST_CASE("a stream that is being captured is refused and the batch is still the next one") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const std::vector<Got> expected = collect(wide_records(), {.threads = 1});
  GpuConsumer consumer;
  const GpuStream captured;
  const ps::StreamRef captured_ref = captured.ref();
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 1});
  must(cudaStreamBeginCapture(captured.handle(), cudaStreamCaptureModeThreadLocal));
  const auto no_ref = error_of([&] { static_cast<void>(captured.ref()); });
  const auto refused = error_of([&] { static_cast<void>(loader.next(captured_ref)); });
  auto batch = loader.next(consumer.ref());
  const auto also = error_of([&] { batch->also_used_on(captured_ref); });
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(captured.handle(), &graph));  // it was not spoilt
  std::size_t nodes = 1;
  must(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 0);
  must(cudaGraphDestroy(graph));
  REQUIRE(no_ref);
  CHECK(no_ref->code() == ps::Errc::unsupported);
  REQUIRE(refused);
  CHECK(refused->code() == ps::Errc::unsupported);
  REQUIRE(also);
  CHECK(also->code() == ps::Errc::unsupported);
  REQUIRE(batch);
  CHECK(batch->number() == 0);
  consumer.step(*batch);
  batch.reset();
  while (auto next = loader.next(captured_ref)) consumer.step(*next, captured.handle());
  CHECK(consumer.finish() == expected);
}

TEST_CASE("a graph that is captured while a loader is made and runs and ends is not spoilt") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const std::vector<Got> expected = collect(wide_records(), {.threads = 1}, 2);
  GpuConsumer consumer;
  const ps::StreamRef stream = consumer.ref();
  const GpuStream captured;
  // The strictest mode: any thread's call that might wait would end the capture.
  must(cudaStreamBeginCapture(captured.handle(), cudaStreamCaptureModeGlobal));
  {
    ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2, .device_depth = 2});
    for (int epoch = 0; epoch < 2; ++epoch)
      for (ps::Batch& batch : loader.epoch(stream)) consumer.step(batch);
  }
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(captured.handle(), &graph));
  must(cudaGraphDestroy(graph));
  CHECK(consumer.finish() == expected);
}

TEST_CASE("a batch let go while its stream is captured leaves nothing in the graph and that is told") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  GpuConsumer consumer;
  const GpuStream captured;
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 1, .device_depth = 3});
  auto batch = loader.next(captured.ref());
  must(cudaStreamBeginCapture(captured.handle(), cudaStreamCaptureModeGlobal));
  batch->release();
  // Copies into whatever is free go on beside the capture.
  for (int i = 0; i < 2; ++i) {
    const auto told = error_of([&] { consumer.step(*loader.next(consumer.ref())); });
    CHECK((i == 0) == told.has_value());
    if (!told) continue;
    CHECK(told->code() == ps::Errc::unsupported);
    CHECK(told->cause().find("2 of 3 batches are left") != std::string::npos);
  }
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(captured.handle(), &graph));
  std::size_t nodes = 1;
  must(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 0);
  must(cudaGraphDestroy(graph));
  static_cast<void>(consumer.finish());
  CHECK(train(loader, 2).size() == 30);
}

TEST_CASE("memory is given back beside a capture also after a call that failed") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const GpuStream captured;
  const auto model = ps::detail::open_device(ps::gpu(0));
  ps::MemoryResource &on_device = model->device_memory(), &pinned = model->pinned_memory();
  void *const there = on_device.allocate(ps::MiB(1), 256), *const here = pinned.allocate(ps::MiB(1), 4096);
  {
    const ps::detail::DeviceGuard entered(*model);
    const auto stream = model->make_stream("copies", ps::detail::DeviceModel::Priority::normal);
    const auto error = error_of([&] { model->copy(nullptr, nullptr, 16, stream->ref()); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::device);
  }
  must(cudaStreamBeginCapture(captured.handle(), cudaStreamCaptureModeGlobal));
  on_device.deallocate(there, ps::MiB(1), 256);
  pinned.deallocate(here, ps::MiB(1), 4096);
  cudaGraph_t graph = nullptr;
  must(cudaStreamEndCapture(captured.handle(), &graph));
  must(cudaGraphDestroy(graph));
}
