// SPDX-License-Identifier: Apache-2.0
// Loaders whose batches end up on a GPU: the same batches as on the host.
#include "support/catch.hpp"

#include "core/reorder/reordered_help.hpp"
#include "cuda/gpu_help.hpp"
#include "cuda/handles.hpp"

using namespace help;

TEST_CASE("a GPU gets the host's batches") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(120s);
  Records faulty{.count = 90};
  faulty.shared->faults = {{7, Fault::corrupt}, {60, Fault::standard}};
  const Records records{.count = 101};
  const ps::Pipeline pipelines[] = {
      ps::from(records) | ps::batch(7),
      wide_records(101),
      ps::from(records) | ps::shuffle() | ps::batch(16, {.tail = ps::Tail::pad}),
      ps::from(faulty) | ps::shuffle() | ps::on_error({.policy = ps::OnError::replace}) | ps::batch(8),
      ps::from(records) | ps::shuffle() | even() | ps::batch(9),
      ps::from(Records{.count = 20}) | ps::batch(1),
  };
  for (const ps::Pipeline& p : pipelines) {
    INFO(p.plan());
    const std::vector<Got> expected = collect(p, {.threads = 1}, 3);
    for (const unsigned depth : {2u, 3u, 5u}) {
      ps::Loader loader(p, {.device = ps::gpu(0), .threads = 2, .depth = depth, .device_depth = depth});
      CHECK(train(loader, 3) == expected);
    }
  }
}

TEST_CASE("batches of the default streams are the host's too") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(120s);
  const std::vector<Got> expected = collect(wide_records(), {.threads = 1});
  for (const auto make : {handles::legacy_ref, handles::per_thread_ref}) {
    const ps::StreamRef stream = make(0);
    CHECK(stream.device() == ps::gpu(0));
    ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2, .device_depth = 2});
    GpuConsumer consumer;
    for (ps::Batch& batch : loader.epoch(stream)) {
      kernels::delay(static_cast<cudaStream_t>(stream.handle()), 5ms);
      consumer.step(batch, static_cast<cudaStream_t>(stream.handle()));
    }
    CHECK(consumer.finish() == expected);
  }
}

TEST_CASE("a batch asked for without a stream is there when next returns") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(120s);
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2});
  GpuConsumer consumer;
  while (auto batch = loader.next()) {
    consumer.step(*batch);
    consumer.stream().synchronize();  // without a stream, whoever has the batch is done with it when it lets it go
  }
  CHECK(consumer.finish() == collect(wide_records(), {.threads = 1}));
}

TEST_CASE("work that comes late sees its own batch and not one that came after") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(120s);
  const std::vector<Got> expected = collect(wide_records(), {.threads = 1}, 2);
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 2, .device_depth = 2});
  GpuConsumer consumer;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (ps::Batch& batch : loader.epoch(consumer.ref())) {
      kernels::delay(consumer.stream().handle(), 20ms);
      consumer.step(batch);
    }
  CHECK(consumer.finish() == expected);
}

TEST_CASE("a loop that is left and a state go on at the same batch on a GPU") {
  PENSTOCK_NEEDS_GPU();
  const Watchdog watchdog(120s);
  const std::vector<Got> expected = collect(wide_records(), {.threads = 2});
  for (std::size_t stop = 1; stop < expected.size(); stop += 4) {
    ps::Loader first(wide_records(), {.device = ps::gpu(0), .threads = 2});
    ps::Loader second(wide_records(), {.device = ps::gpu(0), .threads = 2});
    GpuConsumer consumer;
    std::size_t taken = 0;
    for (ps::Batch& batch : first.epoch(consumer.ref())) {
      kernels::delay(consumer.stream().handle(), 5ms);
      consumer.step(batch);
      if (++taken == stop) break;
    }
    second.resume(first.state());
    std::vector<Got> got = consumer.finish();
    const std::vector<Got> rest = train(second);
    got.insert(got.end(), rest.begin(), rest.end());
    CHECK(got == expected);
  }
}

TEST_CASE("the report names the GPU and its memory") {
  PENSTOCK_NEEDS_GPU();
  ps::Loader loader(wide_records(), {.device = ps::gpu(0), .threads = 1});
  static_cast<void>(train(loader));
  const ps::Report report = loader.report();
  INFO(report.device);
  CHECK(report.device.find("gpu 0 (") == 0);
  CHECK(report.device.find(", compute capability ") != std::string::npos);
  CHECK(report.device.find(" GiB)") != std::string::npos);
  REQUIRE(report.memory.size() >= 2);
  CHECK(report.memory[1].name == "batches on gpu 0");
  CHECK(report.memory[1].count == 3);
  CHECK(report.copied_bytes == 0);
}
