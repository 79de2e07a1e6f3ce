// SPDX-License-Identifier: Apache-2.0
// Batches on a GPU in the caller's hands: on several streams, outliving their loader, after a kernel that fails.
#include "support/catch.hpp"

#include "cuda/gpu_help.hpp"

using namespace help;

TEST_CASE("batches on a GPU outlive their loader") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const std::vector<Got> expected = collect(wide_records(), {.threads = 1});
  GpuConsumer consumer;
  {
    std::vector<ps::Batch> held;
    {
      ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2, .device_depth = 4});
      for (int i = 0; i < 3; ++i) held.push_back(loader.next(consumer.ref()).value());
    }
    for (const ps::Batch& batch : held) {
      kernels::delay(consumer.stream().handle(), 20ms);
      consumer.step(batch);
    }
  }  // the memory goes after that work
  const std::vector<Got> got = consumer.finish();
  REQUIRE(got.size() == 3);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == expected[i]);
}

TEST_CASE("a batch that two streams use is written to again after both") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const std::vector<Got> expected = collect(wide_records(), {.threads = 1});
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2, .device_depth = 2});
  GpuConsumer first, second;
  while (auto batch = loader.next(first.ref())) {
    first.step(*batch);
    batch->also_used_on(second.ref());
    batch->also_used_on(second.ref());
    kernels::delay(second.stream().handle(), 20ms);
    second.step(*batch);
  }
  CHECK(first.finish() == expected);
  CHECK(second.finish() == expected);
}

TEST_CASE("a caller that holds all batches of a GPU is told and goes on once it let one go") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 1, .device_depth = 2});
  GpuConsumer consumer;
  std::vector<ps::Batch> held;
  for (int i = 0; i < 2; ++i) held.push_back(loader.next(consumer.ref()).value());
  const auto error = error_of([&] { static_cast<void>(loader.next(consumer.ref())); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::leases_exhausted);
  for (const ps::Batch& batch : held) consumer.step(batch);
  held.clear();
  while (auto batch = loader.next(consumer.ref())) consumer.step(*batch);
  CHECK(consumer.finish() == collect(wide_records(), {.threads = 1}));
}

TEST_CASE("batches of a GPU are let go on other threads") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2, .device_depth = 6});
  GpuConsumer consumer;
  std::vector<std::jthread> threads;
  while (auto batch = loader.next(consumer.ref())) {
    consumer.step(*batch);
    threads.emplace_back([b = std::move(batch)]() mutable { b.reset(); });
    while (threads.size() > 3) threads.erase(threads.begin());
  }
  threads.clear();
  CHECK(consumer.finish() == collect(wide_records(), {.threads = 1}));
}

TEST_CASE("a kernel that fails ends the loader with an error and nothing hangs") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(60s);
  const auto error = error_of([] {
    GpuStream stream;
    ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2, .device_depth = 2});
    ps::Batch held = loader.next(stream.ref()).value();
    kernels::trap(stream.handle());
    held.release();
    // How soon the device's failure is seen is the driver's matter, but not after a whole run.
    for (int epoch = 0; epoch < 100; ++epoch)
      for (ps::Batch& batch : loader.epoch(stream.ref())) batch.release();
  });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::device);
}
