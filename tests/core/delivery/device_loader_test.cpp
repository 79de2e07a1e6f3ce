// SPDX-License-Identifier: Apache-2.0
// Loaders whose batches end up on a device: the same batches as on the host, whatever the device does when.
#include "support/catch.hpp"

#include "core/delivery/device_help.hpp"
#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {

struct Named {
  const char* name;
  ps::Pipeline pipeline;
};

struct NoOrderFrom {
  std::uint64_t position = 0;
  std::uint64_t size(std::uint64_t n) const { return n; }
  void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint> points) const {
    for (const ps::OrderPoint& p : points)
      if (p.position >= position) throw std::runtime_error("no order from here on");
  }
  std::string name() const { return "no_order_from"; }
  std::string describe() const { return ""; }
};

std::vector<Named> pipelines() {
  Records faulty{.count = 90};
  faulty.shared->faults = {{7, Fault::corrupt}, {8, Fault::io}, {60, Fault::standard}};
  const Records records{.count = 101};
  return {
      {"in order", ps::from(records) | ps::batch(7)},
      {"shuffled and drawn", ps::from(records) | ps::shuffle() | ps::map(AddDraw{}) | ps::batch(8)},
      {"padded batches", ps::from(records) | ps::shuffle() | ps::batch(16, {.tail = ps::Tail::pad})},
      {"bad samples replaced",
       ps::from(faulty) | ps::shuffle() | ps::on_error({.policy = ps::OnError::replace}) | ps::batch(8)},
      {"bad samples masked", ps::from(faulty) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(8)},
      {"bad samples dropped",
       ps::from(faulty) | ps::shuffle() | ps::on_error({.policy = ps::OnError::drop}) | ps::batch(8)},
      {"filtered", ps::from(records) | ps::shuffle() | even() | ps::batch(9)},
      {"flat-mapped", ps::from(records) | ps::shuffle() | ps::flat_map(Parts{}) | ps::batch(9)},
      {"a stream", ps::from(Seeking{}) | ps::batch(3)},
      {"one row a batch", ps::from(Records{.count = 20}) | ps::batch(1)},
      {"nothing is kept", ps::from(records) | ps::filter([](const ps::Sample&) { return false; }) | ps::batch(4)},
  };
}

void check_same(const std::vector<Got>& ours, const std::vector<Got>& expected) {
  REQUIRE(ours.size() == expected.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (ours[i] != expected[i]) FAIL("batch " << i << ": " << ours[i] << ", on the host " << expected[i]);
}

}  // namespace

TEST_CASE("a device gets the host's batches, at any thread count, whenever it does its work") {
  const Watchdog watchdog(120s);
  for (const Named& p : pipelines()) {
    INFO(p.name);
    const std::vector<Got> expected = collect(p.pipeline, {.threads = 1}, 3);
    for (const Mode mode : {Mode::late, Mode::threaded})
      for (std::uint64_t seed = 0; seed < scaled(12, 3); ++seed) {
        INFO("mode " << static_cast<int>(mode) << ", seed " << seed);
        ps::EmulatedGpu gpu(
            {.mode = mode, .seed = seed, .max_delay_us = mode == Mode::threaded && seed % 3 == 1 ? 50u : 0u});
        const auto threads = static_cast<unsigned>(1 + seed % 3), depth = static_cast<unsigned>(2 + seed % 4);
        ps::LoaderOptions options{.device = gpu.device(),
                                  .threads = threads,
                                  .depth = depth,
                                  .device_depth = 2 + static_cast<unsigned>(seed % 2)};
        ps::Loader loader(p.pipeline, options);
        check_same(train(loader, gpu, 3), expected);
        // Without a stream the host waits, and reads. States are the host's too, to the bit.
        ps::Loader waiting(p.pipeline, options), on_host(p.pipeline, {.threads = threads});
        std::vector<Got> got;
        for (int e = 0; e < 3; ++e) {
          for (;;) {
            const auto ours = waiting.next(), theirs = on_host.next();
            REQUIRE(ours.has_value() == theirs.has_value());
            const ps::State a = waiting.state(), b = on_host.state();
            REQUIRE(a == b);
            if (!ours) break;
            got.push_back(copy(*ours));
          }
        }
        check_same(got, expected);
      }
  }
}

TEST_CASE("nothing that a loader and a training loop do on a device is without order") {
  const Watchdog watchdog(120s);
  for (const Named& p : pipelines())
    for (const Mode mode : {Mode::late, Mode::threaded})
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        ps::EmulatedGpu gpu({.mode = mode, .checked = true, .seed = seed});
        {
          ps::Loader loader(p.pipeline, {.device = gpu.device(), .threads = 2, .device_depth = 2});
          static_cast<void>(train(loader, gpu, 2));
        }
        INFO(p.name);
        for (const std::string& finding : gpu.findings()) FAIL(finding);
      }
}

TEST_CASE("a loop that is left, and a state, go on at the same batch on a device") {
  const Watchdog watchdog(120s);
  for (const Named& p : pipelines()) {
    INFO(p.name);
    const std::vector<Got> expected = collect(p.pipeline, {.threads = 2}, 3);
    for (std::size_t stop = 0; stop < expected.size(); stop += 1 + expected.size() / 7) {
      ps::EmulatedGpu gpu({.mode = stop % 2 == 0 ? Mode::late : Mode::threaded, .seed = stop});
      const ps::LoaderOptions options{.device = gpu.device(), .threads = 2};
      ps::Loader first(p.pipeline, options), second(p.pipeline, options);
      std::vector<Got> got;
      {
        DeviceConsumer consumer(gpu);
        for (std::uint64_t e = 0; e < 3 && got.size() < stop; ++e)
          for (ps::Batch& batch : first.epoch(consumer.ref())) {
            consumer.step(batch);
            got.push_back(consumer.finish()[0]);
            if (got.size() == stop) break;
          }
      }
      second.resume(first.state());
      while (second.epoch_number() < 3) {
        const std::vector<Got> rest = train(second, gpu);
        got.insert(got.end(), rest.begin(), rest.end());
      }
      check_same(got, expected);
      // The one that was left begins its next epoch.
      if (stop != 0 && first.epoch_number() < 2) {
        const std::uint64_t epoch = expected[stop - 1].epoch + 1;
        std::vector<Got> next;
        std::copy_if(expected.begin(), expected.end(), std::back_inserter(next),
                     [&](const Got& g) { return g.epoch == epoch; });
        check_same(train(first, gpu), next);
      }
    }
  }
}

TEST_CASE("bad samples and failing orders come at their batch on a device, and the loader goes on") {
  const Watchdog watchdog(60s);
  Records source{.count = 40};
  source.shared->faults = {{17, Fault::corrupt}};
  const ps::Pipeline p = ps::from(source) | ps::batch(4);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode});
    ps::Loader loader(p, {.device = gpu.device(), .threads = 2});
    for (int round = 0; round < 3; ++round) {
      DeviceConsumer consumer(gpu);
      const auto error = error_of([&] {
        for (ps::Batch& batch : loader.epoch(consumer.ref())) consumer.step(batch);
      });
      REQUIRE(error);
      CHECK(error->index() == 17u);
      CHECK(consumer.finish().size() == 4);
      CHECK(loader.state().position == 16);
    }
  }
}

TEST_CASE("an order that fails comes after the batches that were copied before it, however slow the caller is") {
  const Watchdog watchdog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 40}) | NoOrderFrom{.position = 8} | ps::batch(4);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode});
    ps::Loader loader(p, {.device = gpu.device(), .threads = 2});
    DeviceConsumer consumer(gpu);
    consumer.step(loader.next(consumer.ref()).value());
    std::this_thread::sleep_for(30ms);  // what fails has failed
    std::uint64_t delivered = 1;
    const auto error = error_of([&] {
      while (auto batch = loader.next(consumer.ref())) ++delivered;
    });
    REQUIRE(error);
    CHECK(error->cause() == "no order from here on");
    CHECK(delivered == 2);
    CHECK(loader.state().position == 8);
  }
}

TEST_CASE("a device's batches and their memory are in the report") {
  ps::EmulatedGpu gpu;
  ps::Loader loader(ps::from(Records{.count = 64}) | ps::batch(16), {.device = gpu.device(), .threads = 1});
  static_cast<void>(train(loader, gpu));
  const ps::Report report = loader.report();
  CHECK(report.device == ps::to_string(gpu.device()) + " (emulated)");
  REQUIRE(report.memory.size() >= 2);
  CHECK(report.memory[0].name == "batches");
  CHECK(report.memory[1].name == "batches on " + ps::to_string(gpu.device()));
  CHECK(report.memory[1].count == 3);
  CHECK(report.memory[1].bytes() == gpu.device_bytes_used());
  CHECK(report.memory[0].bytes() == gpu.pinned_bytes_used());
  CHECK(report.copied_bytes == 0);  // the runners wrote to the pinned buffer themselves
  CHECK(report.samples == 64);
}

TEST_CASE("a loader that is warm takes no memory of a device, and gives all back") {
  ps::EmulatedGpu gpu;
  {
    ps::Loader loader(ps::from(Records{.count = 64}) | ps::batch(8), {.device = gpu.device(), .threads = 2});
    static_cast<void>(train(loader, gpu));
    const std::size_t device = gpu.device_bytes_used(), pinned = gpu.pinned_bytes_used();
    CHECK(device != 0);
    for (int i = 0; i < 20; ++i) static_cast<void>(train(loader, gpu));
    CHECK(gpu.device_bytes_used() == device);
    CHECK(gpu.pinned_bytes_used() == pinned);
  }
  CHECK(gpu.device_bytes_used() == 0);
  CHECK(gpu.pinned_bytes_used() == 0);
}

TEST_CASE("a device's memory is bounded by what the loader may have, and by what there is") {
  const ps::Pipeline p = ps::from(Records{.count = 64, .width = 64}) | ps::batch(8);  // 2,304 bytes a batch
  {
    ps::EmulatedGpu gpu;
    ps::Loader two(p, {.device = gpu.device(), .threads = 1, .max_device_bytes = 5000});
    CHECK(gpu.device_bytes_used() == 2 * 2304);
    REQUIRE_FALSE(two.report().notes.empty());
    CHECK(two.report().notes[0] == "`max_device_bytes` allows 2 batches on the device instead of 3");
    CHECK(train(two, gpu).size() == 8);
    const auto error = error_of([&] { ps::Loader(p, {.device = gpu.device(), .max_device_bytes = 4000}); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::out_of_memory);
    CHECK(error->cause().find("2 batches of 2304 bytes need 4608 bytes") != std::string::npos);
  }
  for (const bool pinned : {false, true}) {
    ps::EmulatedGpu gpu(pinned ? ps::EmulatedGpuOptions{.max_pinned_bytes = 4000}
                               : ps::EmulatedGpuOptions{.max_device_bytes = 4000});
    CHECK(error_of([&] { ps::Loader(p, {.device = gpu.device()}); })->code() == ps::Errc::out_of_memory);
    CHECK(gpu.device_bytes_used() == 0);
    CHECK(gpu.pinned_bytes_used() == 0);
  }
}

TEST_CASE("devices that are not there are refused in words") {
  const ps::Pipeline p = ps::from(Records{.count = 8}) | ps::batch(4);
  CHECK(error_of([&] { ps::Loader(p, {.device = ps::gpu(99)}); })->code() == ps::Errc::unsupported);
  ps::Device gone;
  {
    const ps::EmulatedGpu gpu;
    gone = gpu.device();
  }
  CHECK(error_of([&] { ps::Loader(p, {.device = gone}); })->cause().find("keep the EmulatedGpu") != std::string::npos);
}

TEST_CASE("batches are copied to fixed addresses and leave no lease") {
  const Watchdog watchdog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 30}) | ps::shuffle() | ps::batch(4);
  const std::vector<Got> expected = collect(p, {.threads = 1});
  std::size_t row = 0;
  for (const ps::Field& f : p.schema()) row += f.shape.elements() * ps::size_of(f.dtype);
  // One block of memory; all fields one after the other.
  const auto tensors = [&](std::byte* at, std::int64_t rows) {
    std::vector<ps::TensorView> out;
    for (const ps::Field& f : p.schema()) {
      std::vector<std::int64_t> dims{rows};
      for (std::size_t i = 0; i < f.shape.rank(); ++i) dims.push_back(f.shape[i]);
      out.push_back({at, f.dtype, ps::Shape(std::span<const std::int64_t>(dims))});
      at += out.back().bytes();
    }
    return out;
  };
  const auto got_of = [&](const ps::CopiedBatchInfo& facts, const std::vector<std::byte>& block) {
    Got got{.epoch = facts.epoch, .number = facts.number, .indices = facts.indices, .mask = facts.mask, .bytes = {}};
    std::vector<std::byte> copy = block;
    for (const ps::TensorView& t : tensors(copy.data(), 5))
      got.bytes.insert(got.bytes.end(), t.data, t.data + t.bytes() / 5 * facts.rows);
    return got;
  };
  {
    std::vector<std::byte> block(5 * row);
    ps::Loader loader(p, {.threads = 1, .depth = 2});
    std::vector<Got> got;
    while (auto facts = loader.next_into(tensors(block.data(), 5))) got.push_back(got_of(*facts, block));
    CHECK(got == expected);
  }
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode, .checked = true});
    {
      // The graph's memory: what stands on the stream reads it there, batch after batch.
      std::vector<std::byte> block(5 * row);
      auto stream = gpu.make_stream("graph");
      ps::Loader loader(p, {.device = gpu.device(), .threads = 2, .depth = 2, .device_depth = 2});
      CHECK(error_of([&] { static_cast<void>(loader.next_into(tensors(block.data(), 5))); })->code() ==
            ps::Errc::invalid_argument);
      CHECK(error_of([&] { static_cast<void>(loader.next_into(tensors(block.data(), 3), stream.ref())); })->code() ==
            ps::Errc::schema_mismatch);
      CHECK(error_of([&] { static_cast<void>(loader.next_into({}, stream.ref())); })->code() ==
            ps::Errc::schema_mismatch);
      std::deque<std::vector<std::byte>> read;
      std::vector<ps::CopiedBatchInfo> facts;
      while (auto one = loader.next_into(tensors(block.data(), 5), stream.ref())) {
        auto& to = read.emplace_back(block.size());
        stream.launch("read", [&to, &block] { std::memcpy(to.data(), block.data(), block.size()); },
                      {{block.data(), block.size(), false}});
        facts.push_back(std::move(*one));
      }
      stream.synchronize();
      std::vector<Got> got;
      for (std::size_t i = 0; i < facts.size(); ++i) got.push_back(got_of(facts[i], read[i]));
      CHECK(got == expected);
    }
    for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
  }
  ps::Loader ragged(ps::from(Records{.count = 8}) | ps::ragged("x") | ps::batch(4), {.threads = 1});
  std::vector<ps::TensorView> any(ragged.pipeline().schema().size());
  CHECK(error_of([&] { static_cast<void>(ragged.next_into(any)); })->code() == ps::Errc::unsupported);
}

TEST_CASE("epochs without batches run no further ahead on a device than batches would") {
  const Watchdog dog(60s);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode});
    Records source{.count = 10};
    ps::Loader loader(ps::from(source) | ps::filter([](const ps::Sample&) { return false; }) | ps::batch(2),
                      {.device = gpu.device(), .threads = 2, .depth = 3, .device_depth = 2});
    CHECK(collect(loader).empty());
    std::this_thread::sleep_for(100ms);
    // That epoch's end, two on the device, three of the engine, and what is in work after them.
    CHECK(source.shared->reads <= 10 * (1 + 2 + 3 + 2) + 20);
    CHECK(collect(loader, 5).empty());
    CHECK(loader.epoch_number() == 6);
  }
}
