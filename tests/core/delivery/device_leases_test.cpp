// SPDX-License-Identifier: Apache-2.0
// Batches of a device in the caller's hands: on several streams, hoarded, outliving their loader, in storms.
#include "support/catch.hpp"

#include <ctime>
#include <set>

#include <penstock/extend/device_stage.hpp>
#include <penstock/memory.hpp>

#include "core/delivery/device_help.hpp"
#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {
ps::Pipeline records(std::uint64_t count = 60, std::uint64_t rows = 4) {
  return ps::from(Records{.count = count}) | ps::shuffle() | ps::batch(rows);
}
struct Copied {
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::vector<std::string> writes() const { return {"x"}; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    ps::launch_on_host(stream, "copied",
                       [from = in["x"], to = out["x"]] { std::memcpy(to.data, from.data, from.bytes()); });
  }
};
}  // namespace

TEST_CASE("a caller that holds all batches of a device is told, and goes on once it let one go") {
  const Watchdog watchdog(30s);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode});
    const std::vector<Got> expected = collect(records(), {.threads = 1});
    ps::Loader loader(records(), {.device = gpu.device(), .threads = 1, .device_depth = 4});
    DeviceConsumer consumer(gpu);
    std::vector<ps::Batch> held;
    for (int i = 0; i < 4; ++i) held.push_back(loader.next(consumer.ref()).value());
    for (int i = 0; i < 2; ++i) {
      const auto error = error_of([&] { static_cast<void>(loader.next(consumer.ref())); });
      REQUIRE(error);
      CHECK(error->code() == ps::Errc::leases_exhausted);
      CHECK(error->cause().find("`device_depth`") != std::string::npos);
    }
    // In any order.
    for (const std::size_t i : {0u, 1u, 2u, 3u}) consumer.step(held[i]);
    held.erase(held.begin() + 2);
    held.clear();
    while (auto batch = loader.next(consumer.ref())) consumer.step(*batch);
    CHECK(consumer.finish() == expected);
  }
}

TEST_CASE("a batch is copied to the place whose lease ended first") {
  const Watchdog watchdog(30s);
  for (const Mode mode : {Mode::late, Mode::threaded})
    for (const unsigned depth : {2u, 3u, 5u}) {
      ps::EmulatedGpu gpu({.mode = mode});
      ps::Loader loader(records(), {.device = gpu.device(), .threads = 1, .device_depth = depth});
      DeviceConsumer consumer(gpu);
      std::vector<const std::byte*> places;
      for (int epoch = 0; epoch < 2; ++epoch)
        for (ps::Batch& batch : loader.epoch(consumer.ref())) {
          places.push_back(batch[batch.schema()[0].name].data);
          consumer.step(batch);
        }
      REQUIRE(places.size() == 30);
      CHECK(std::set<const std::byte*>(places.begin(), places.end()).size() == depth);
      for (std::size_t i = depth; i < places.size(); ++i) CHECK(places[i] == places[i - depth]);
    }
}

TEST_CASE("a device's memory grows on demand up to the depth and the limit that were said") {
  const Watchdog watchdog(60s);
  const std::vector<Got> expected = collect(records(), {.threads = 1});
  std::size_t each = 0;
  {
    ps::EmulatedGpu gpu;
    const ps::Loader loader(records(), {.device = gpu.device(), .threads = 1, .device_depth = 4});
    each = gpu.device_bytes_used() / 4;
  }
  for (const Mode mode : {Mode::late, Mode::threaded})
    for (const std::size_t room : {4u, 3u}) {  // of what the device has
      ps::EmulatedGpu gpu({.mode = mode, .checked = true, .max_device_bytes = room * each});
      {
        ps::Loader loader(
            records(),
            {.device = gpu.device(), .threads = 1, .depth = 4, .device_depth = 4, .growth = ps::Growth::on_demand});
        CHECK(gpu.device_bytes_used() == 2 * each);
        DeviceConsumer consumer(gpu);
        std::vector<ps::Batch> held;
        // One at a time: two batches are enough.
        for (int i = 0; i < 6; ++i) consumer.step(*loader.next(consumer.ref()));
        CHECK(gpu.device_bytes_used() == 2 * each);
        CHECK(loader.report().text().find("2 batches of 4") != std::string::npos);
        for (std::size_t i = 0; i < room; ++i) {
          held.push_back(loader.next(consumer.ref()).value());
          CHECK(gpu.device_bytes_used() == std::max<std::size_t>(2, i + 1) * each);
        }
        const auto error = error_of([&] { static_cast<void>(loader.next(consumer.ref())); });
        REQUIRE(error);
        CHECK(error->code() == ps::Errc::leases_exhausted);
        CHECK((error->cause().find("no memory for more") != std::string::npos) == (room == 3));
        for (const ps::Batch& batch : held) consumer.step(batch);
        held.clear();
        while (auto batch = loader.next(consumer.ref())) consumer.step(*batch);
        CHECK(consumer.finish() == expected);
        CHECK(gpu.device_bytes_used() == room * each);
      }
      CHECK(gpu.device_bytes_used() == 0);
      CHECK(gpu.findings().empty());
    }
}

TEST_CASE("loaders share a limit of a device's memory") {
  std::size_t each = 0;
  {
    ps::EmulatedGpu gpu;
    const ps::Loader loader(records(), {.device = gpu.device(), .threads = 1, .device_depth = 2});
    each = gpu.device_bytes_used() / 2;
  }
  ps::EmulatedGpu gpu;
  const auto memory = ps::device_memory(gpu.device());
  CHECK(memory->kind() == ps::MemoryKind::device);
  CHECK(ps::pinned_memory(gpu.device())->kind() == ps::MemoryKind::pinned);
  ps::LimitResource limit(*memory, 5 * each);
  const auto options = [&](unsigned depth) {
    return ps::LoaderOptions{.device = gpu.device(), .threads = 1, .device_depth = depth, .device_resource = &limit};
  };
  {
    ps::Loader training(records(), options(3)), validation(records(), options(2));
    CHECK(limit.used() == 5 * each);
    CHECK(gpu.device_bytes_used() == 5 * each);
    const auto error = error_of([&] { const ps::Loader third(records(), options(2)); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::out_of_memory);
    CHECK(train(training, gpu) == collect(records(), {.threads = 1}));
    CHECK(train(validation, gpu) == collect(records(), {.threads = 1}));
  }
  CHECK(limit.used() == 0);
  const auto refused = [](ps::LoaderOptions o) {
    return error_of([&] { const ps::Loader loader(records(), o); })->code() == ps::Errc::invalid_argument;
  };
  CHECK(refused({.device_resource = &limit}));
  CHECK(refused({.device = gpu.device(), .device_resource = &ps::host_memory()}));
}

TEST_CASE("a batch outlives its loader on a device, and its memory goes with it") {
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode, .checked = true});
    std::vector<Got> got;
    {
      DeviceConsumer consumer(gpu);
      std::optional<ps::Batch> batch;
      {
        ps::Loader loader(records(), {.device = gpu.device(), .threads = 2});
        batch = loader.next(consumer.ref());
      }
      CHECK(gpu.pinned_bytes_used() == 0);
      CHECK(gpu.device_bytes_used() != 0);
      consumer.step(*batch);
      batch.reset();
      CHECK(gpu.device_bytes_used() == 0);
      got = consumer.finish();
    }
    CHECK(got[0] == collect(records(), {.threads = 1})[0]);
    CHECK(gpu.findings().empty());
  }
}

TEST_CASE("a loader, and its batches, outlive the EmulatedGpu that they were made for") {
  for (const Mode mode : {Mode::late, Mode::threaded})
    for (const int batches : {-1, 0, 1}) {
      std::optional<ps::Loader> loader;
      std::optional<ps::Batch> batch;
      {
        const ps::EmulatedGpu gpu({.mode = mode});
        loader.emplace(records(), ps::LoaderOptions{.device = gpu.device(), .threads = 1});
        if (batches >= 0) batch = loader->next();
      }
      CHECK((batches < 0 || loader->next().has_value()));
      if (batches == 0) batch.reset();
      loader.reset();
      if (batch) CHECK(copy(*batch) == collect(records(), {.threads = 1})[0]);
    }
}

TEST_CASE("a caller that holds all of an epoch's batches on a device gets its end") {
  const Watchdog watchdog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 24}) | even() | ps::batch(4);  // three batches
  for (std::uint64_t seed = 0; seed < scaled(40, 10); ++seed) {
    ps::EmulatedGpu gpu({.seed = seed, .max_delay_us = seed % 2 == 0 ? 0u : 500u});
    ps::Loader loader(p, {.device = gpu.device(), .threads = 2, .device_depth = 3});
    DeviceConsumer consumer(gpu);
    std::vector<ps::Batch> held;
    for (int i = 0; i < 3; ++i) held.push_back(loader.next(consumer.ref()).value());
    CHECK_FALSE(loader.next(consumer.ref()));
    CHECK(error_of([&] { static_cast<void>(loader.next(consumer.ref())); })->code() == ps::Errc::leases_exhausted);
  }
}

TEST_CASE("batches are let go on other threads while a loader of a device goes on, and is moved") {
  const Watchdog watchdog(60s);
  ps::EmulatedGpu gpu({.checked = true});
  std::optional<ps::Loader> first(std::in_place, records(400),
                                  ps::LoaderOptions{.device = gpu.device(), .threads = 2, .device_depth = 6});
  DeviceConsumer consumer(gpu);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 20; ++i) {
    auto batch = first->next(consumer.ref());
    consumer.step(*batch);
    threads.emplace_back([b = std::move(batch)]() mutable { b.reset(); });
    while (threads.size() > 3) threads.erase(threads.begin());
  }
  ps::Loader second = std::move(*first);
  first.reset();
  while (auto batch = second.next(consumer.ref())) consumer.step(*batch);
  threads.clear();
  CHECK(consumer.finish() == collect(records(400), {.threads = 1}));
  CHECK(gpu.findings().empty());
}

TEST_CASE("a batch that several streams use is written to again after all of them") {
  const Watchdog watchdog(60s);
  const std::vector<Got> expected = collect(records(), {.threads = 1});
  for (const Mode mode : {Mode::late, Mode::threaded})
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      ps::EmulatedGpu gpu({.mode = mode, .checked = true, .seed = seed, .max_delay_us = seed % 2 == 0 ? 0u : 50u});
      ps::Loader loader(records(), {.device = gpu.device(), .threads = 2, .device_depth = 2});
      DeviceConsumer first(gpu, "first"), second(gpu, "second");
      while (auto batch = loader.next(first.ref())) {
        first.step(*batch);
        batch->also_used_on(second.ref());
        batch->also_used_on(second.ref());
        batch->also_used_on(first.ref());
        second.step(*batch);
      }
      CHECK(first.finish() == expected);
      CHECK(second.finish() == expected);
      for (const std::string& finding : gpu.findings()) FAIL(finding);
    }
}

TEST_CASE("a use on a stream that the batch was not told of is found by a checked device") {
  ps::EmulatedGpu gpu({.mode = Mode::late, .checked = true});
  ps::Loader loader(records(), {.device = gpu.device(), .threads = 1, .device_depth = 2});
  DeviceConsumer first(gpu, "first"), second(gpu, "second");
  while (auto batch = loader.next(first.ref())) second.step(*batch);
  CHECK_FALSE(gpu.findings().empty());
}

TEST_CASE("streams of other devices are refused, and the batch is still the next one") {
  ps::EmulatedGpu gpu, other;
  DeviceConsumer consumer(gpu), stranger(other);
  ps::Loader loader(records(), {.device = gpu.device(), .threads = 1});
  CHECK(error_of([&] { static_cast<void>(loader.next(stranger.ref())); })->code() == ps::Errc::invalid_argument);
  auto batch = loader.next(consumer.ref());
  REQUIRE(batch);
  CHECK(batch->number() == 0);
  CHECK(batch->device() == gpu.device());
  CHECK(error_of([&] { batch->also_used_on(stranger.ref()); })->code() == ps::Errc::invalid_argument);
  ps::Loader on_host(records(), {.threads = 1});
  CHECK(error_of([&] { static_cast<void>(on_host.next(consumer.ref())); })->code() == ps::Errc::invalid_argument);
  CHECK(on_host.next()->device() == ps::host());
  // Nothing of an epoch is over for it.
  ps::Loader fresh(records(), {.device = gpu.device(), .threads = 1});
  CHECK(error_of([&] {
          for (ps::Batch& b : fresh.epoch(stranger.ref())) b.release();
        })->code() == ps::Errc::invalid_argument);
  CHECK(train(fresh, gpu) == collect(records(), {.threads = 1}));
}

TEST_CASE("a stream that is being captured is refused, and a batch let go on one is lost and that is told") {
  const Watchdog watchdog(60s);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode, .checked = true});
    {
      DeviceConsumer consumer(gpu), captured(gpu, "captured");
      ps::Loader loader(records(), {.device = gpu.device(), .threads = 1, .device_depth = 3});
      auto batch = loader.next(captured.ref());
      captured.step(*batch);
      captured.stream().begin_capture();
      CHECK(error_of([&] { static_cast<void>(loader.next(captured.ref())); })->code() == ps::Errc::unsupported);
      auto other = loader.next(consumer.ref());
      CHECK(error_of([&] { other->also_used_on(captured.ref()); })->code() == ps::Errc::unsupported);
      batch->release();
      CHECK(captured.stream().end_capture() == 0);
      const auto told = error_of([&] { static_cast<void>(loader.next(consumer.ref())); });
      REQUIRE(told);
      CHECK(told->code() == ps::Errc::unsupported);
      CHECK(told->cause().find("a batch was let go while its stream was being captured") != std::string::npos);
      CHECK(told->cause().find("2 of 3 batches are left") != std::string::npos);
      consumer.step(*other);
      other.reset();
      CHECK(train(loader, gpu, 2).size() == 30);
      CHECK(captured.finish()[0] == collect(records(), {.threads = 1})[0]);  // nothing was written over it
    }
    CHECK(gpu.device_bytes_used() == 0);
    for (const std::string& finding : gpu.findings()) FAIL(finding);
  }
}

TEST_CASE("where memory can't be pinned a loader goes on with ordinary memory, and its report says so") {
  const Watchdog watchdog(60s);
  for (const Mode mode : {Mode::late, Mode::threaded})
    for (const bool refuses : {false, true}) {
      ps::EmulatedGpu gpu({.mode = mode, .checked = true, .refuses_to_pin = refuses});
      ps::Loader loader(records(), {.device = gpu.device(), .threads = 2});
      CHECK(train(loader, gpu) == collect(records(), {.threads = 1}));
      CHECK((gpu.pinned_bytes_used() == 0) == refuses);
      std::size_t notes = 0;
      for (const std::string& note : loader.report().notes)
        notes += note.find("could not be pinned") != std::string::npos ? 1 : 0;
      CHECK(notes == (refuses ? 1 : 0));
      // Who asks for pinned memory by name is told.
      const auto pinned = ps::pinned_memory(gpu.device());
      CHECK(error_of([&] { pinned->deallocate(pinned->allocate(100, 64), 100, 64); }).has_value() == refuses);
      for (const std::string& finding : gpu.findings()) FAIL(finding);
    }
}

TEST_CASE("a loop that is left and the beginning of the next do not wait for work on the device") {
  const Watchdog watchdog(60s);
  ps::EmulatedGpu gpu({.mode = Mode::threaded});
  auto stream = gpu.make_stream("consumer");
  ps::Loader loader(records(), {.device = gpu.device(), .threads = 1, .depth = 6, .device_depth = 2});
  for (ps::Batch& batch : loader.epoch(stream.ref())) {
    stream.launch("long", [] { std::this_thread::sleep_for(2s); });
    if (batch.number() == 2) break;  // by now copies stand after that work
  }
  const auto begun = std::chrono::steady_clock::now();
  for (ps::Batch& batch : loader.epoch(stream.ref())) {
    CHECK(batch.epoch() == 1);
    break;
  }
  CHECK(std::chrono::steady_clock::now() - begun < 1s);
}

TEST_CASE("a loader of a device that was stopped takes no time") {
  ps::EmulatedGpu gpu;
  std::stop_source stop;
  ps::Loader loader(records(), {.device = gpu.device(), .threads = 1, .stop = stop.get_token()});
  DeviceConsumer consumer(gpu);
  CHECK(loader.next(consumer.ref()));
  stop.request_stop();
  CHECK_FALSE(loader.next(consumer.ref()));
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(200ms);
  CHECK(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < 0.1);
}

TEST_CASE("two loaders share a device") {
  const Watchdog watchdog(60s);
  ps::EmulatedGpu gpu({.checked = true});
  const ps::Pipeline other = ps::from(Records{.count = 33, .width = 9}) | ps::batch(3);
  ps::Loader a(records(), {.device = gpu.device(), .threads = 1}), b(other, {.device = gpu.device(), .threads = 1});
  DeviceConsumer consumer(gpu), second(gpu, "second");
  for (;;) {
    auto from_a = a.next(consumer.ref());
    if (from_a) consumer.step(*from_a);
    auto from_b = b.next(second.ref());
    if (from_b) second.step(*from_b);
    if (!from_a && !from_b) break;
    if (!from_a || !from_b) {
      while (auto batch = (from_a ? a : b).next(from_a ? consumer.ref() : second.ref()))
        (from_a ? consumer : second).step(*batch);
      break;
    }
  }
  CHECK(consumer.finish() == collect(records(), {.threads = 1}));
  CHECK(second.finish() == collect(other, {.threads = 1}));
  CHECK(gpu.findings().empty());
}

TEST_CASE("loaders of a device are started and stopped at any moment") {
  const Watchdog watchdog(240s);
  ps::EmulatedGpu gpus[] = {ps::EmulatedGpu({.mode = Mode::late}), ps::EmulatedGpu({.mode = Mode::threaded}),
                            ps::EmulatedGpu({.mode = Mode::threaded, .seed = 9, .max_delay_us = 200})};
  const ps::Executor executor(2);
  const std::uint64_t storms = scaled(2000, 200);
  for (std::uint64_t i = 0; i < storms; ++i) {
    ps::EmulatedGpu& gpu = gpus[i % 3];
    std::stop_source stop;
    DeviceConsumer consumer(gpu);
    std::optional<ps::Batch> kept;
    {
      const ps::Pipeline p = i % 2 == 0 ? records(24 + i % 5) : records(24 + i % 5) | Copied{};
      ps::Loader loader(p, {.device = gpu.device(),
                            .executor = executor,
                            .depth = static_cast<unsigned>(2 + i % 3),
                            .epochs = i % 4,
                            .stop = stop.get_token()});
      std::uint64_t left = mix(i) % 12;
      const bool stops = mix(i + 1) % 4 == 0;
      for (int e = 0; e < 2 && left != 0; ++e)
        for (ps::Batch& batch : loader.epoch(consumer.ref())) {
          consumer.step(batch);
          if (--left == 0) {
            if (stops) stop.request_stop();
            if (mix(i + 2) % 3 == 0) kept = std::move(batch);
            break;
          }
        }
    }
    if (kept) consumer.step(*kept);
  }
  for (ps::EmulatedGpu& gpu : gpus) {
    CHECK(gpu.device_bytes_used() == 0);
    CHECK(gpu.pinned_bytes_used() == 0);
  }
}
