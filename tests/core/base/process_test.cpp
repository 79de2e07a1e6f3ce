// SPDX-License-Identifier: Apache-2.0
// The process around a loader: forks, threads, descriptors, memory.
#include "support/catch.hpp"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <penstock/extend/device_stage.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "core/delivery/device_help.hpp"

using namespace help;

namespace {
ps::Pipeline pipeline(std::uint64_t n = 500) {
  return ps::from(Records{.count = n}) | ps::shuffle() | AddDraw{} | ps::batch(8);
}

// Runs `f` in a fork of this process; true when it came to its end. A child that hangs is killed.
bool in_child(const std::function<bool()>& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(sanitized() ? 50 : 10);
    ::_exit(f() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
bool is_forked(const std::function<void()>& f) {
  const auto error = error_of(f);
  return error && error->code() == ps::Errc::forked;
}
}  // namespace

TEST_CASE("in a forked child every call is refused, endings are harmless, and the parent goes on") {
  const Watchdog dog(120s);
  const auto expected = collect(pipeline(), {.threads = 1});
  auto loader = std::make_unique<ps::Loader>(pipeline(), ps::LoaderOptions{.threads = 2});
  std::vector<Got> got;
  ps::Batch held;
  for (int i = 0; i < 20; ++i) {
    auto b = loader->next();
    got.push_back(copy(*b));
    held = std::move(*b);
    CHECK(in_child([&] {
      bool ok = is_forked([&] { (void)loader->next(); });
      ok &= is_forked([&] { (void)collect(*loader); });
      ok &= is_forked([&] { loader->resume(ps::State{}); });
      ok &= is_forked([&] { (void)collect(pipeline(), {.threads = 1}); });
      ok &= is_forked([&] { ps::Executor executor(2); });
      held.release();
      loader.reset();
      return ok;
    }));
  }
  while (auto b = loader->next()) got.push_back(copy(*b));
  CHECK(got == expected);
}

namespace {

// An order that may be asked by many threads at once, as those that make tables are.
struct Locked {
  std::shared_ptr<std::mutex> mutex = std::make_shared<std::mutex>();
  std::string name() const { return "locked"; }
  std::uint64_t size(std::uint64_t input) const { return input; }
  std::string describe() const { return "locked"; }
  void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint>) const { const std::lock_guard lock(*mutex); }
};

}  // namespace

TEST_CASE("a batch that is let go in a forked child asks for no other one") {
  const Watchdog dog(120s);
  struct Asked {
    std::shared_ptr<std::atomic<int>> times = std::make_shared<std::atomic<int>>(0);
    std::string name() const { return "asked"; }
    std::string describe() const { return "asked"; }
    std::uint64_t size(std::uint64_t input) const { return input; }
    void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint>) const { ++*times; }
  };
  const Asked order;
  ps::Loader loader(ps::from(Records{.count = 100}) | order | ps::batch(5), {.threads = 1, .depth = 2});
  ps::Batch held = *loader.next();
  int before = 0;
  CHECK(eventually([&] {  // the ring is full
    std::this_thread::sleep_for(10ms);
    return *order.times == std::exchange(before, *order.times);
  }));
  CHECK(in_child([&] {
    held.release();
    return *order.times == before;
  }));
  held.release();
  CHECK(*order.times > before);  // here it does, at once

  ps::EmulatedGpu gpu({.mode = Mode::late});
  ps::Loader on_device(pipeline(), {.device = gpu.device(), .threads = 1, .device_depth = 2});
  auto stream = gpu.make_stream("consumer");
  ps::Batch there = *on_device.next(stream.ref());
  std::uint64_t calls = 0;
  CHECK(eventually([&] {
    std::this_thread::sleep_for(10ms);
    return gpu.calls() == std::exchange(calls, gpu.calls());
  }));
  CHECK(in_child([&] {
    there.release();
    return gpu.calls() == calls;
  }));
  there.release();
  CHECK(gpu.calls() > calls);
}

TEST_CASE("in a forked child an order that threads of the parent may hold is refused") {
  const Watchdog dog(120s);
  const Locked order;
  const ps::Pipeline p = ps::from(Records{.count = 10}) | order;
  std::uint64_t index = 0;
  const ps::Executor executor(1);  // this process has threads by now
  {
    const std::lock_guard held_by_a_thread_that_is_not_there(*order.mutex);
    CHECK(in_child([&] { return is_forked([&] { p.fill(0, 3, {&index, 1}); }) && is_forked([&] { (void)p.at(3); }); }));
  }
  p.fill(0, 3, {&index, 1});
  CHECK(index == 3);
}

TEST_CASE("a child of a process without threads may ask for an order, and have a loader of its own") {
  const std::string name = "a child of a process without threads may ask for an order, and have a loader of its own";
  if (!inner()) {
    CHECK(run_inner(name) == 0);
    return;
  }
  const ps::Pipeline p = pipeline();
  std::uint64_t index = 0;
  p.fill(0, 3, {&index, 1});
  CHECK(in_child([&] {
    std::uint64_t same = 0;
    p.fill(0, 3, {&same, 1});
    return same == index && collect(p, {.threads = 2}).size() == 63;
  }));
}

TEST_CASE("in a forked child a device is the parent's: every call is refused, endings are harmless") {
  const Watchdog dog(120s);
  const auto expected = collect(pipeline(), {.threads = 1});
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    auto gpu = std::make_unique<ps::EmulatedGpu>(ps::EmulatedGpuOptions{.mode = mode, .max_delay_us = 100});
    std::optional<DeviceConsumer> consumer(*gpu);
    auto loader = std::make_unique<ps::Loader>(pipeline(), ps::LoaderOptions{.device = gpu->device(), .threads = 2});
    ps::Batch held;
    for (int i = 0; i < 12; ++i) {
      auto b = loader->next(consumer->ref());
      consumer->step(*b);
      held = std::move(*b);
      CHECK(in_child([&] {
        bool ok = is_forked([&] { (void)loader->next(consumer->ref()); });
        ok &= is_forked([&] {
          for (ps::Batch& batch : loader->epoch(consumer->ref())) batch.release();
        });
        ok &= is_forked([&] { held.also_used_on(consumer->ref()); });
        ok &= is_forked([&] { ps::Loader(pipeline(), {.device = gpu->device(), .threads = 1}); });
        held.release();
        loader.reset();
        consumer.reset();
        gpu.reset();
        return ok;
      }));
    }
    while (auto b = loader->next(consumer->ref())) consumer->step(*b);
    CHECK(consumer->finish() == expected);
  }
}

TEST_CASE("children of a process that makes loaders all the time are refused, and never get stuck") {
  const Watchdog dog(120s);
  std::atomic<bool> done{false};
  std::thread busy([&] {
    while (!done) (void)collect(pipeline(), {.threads = 2});
  });
  const ps::Executor shared(2);
  bool ok = true;
  for (std::uint64_t i = 0; i < scaled(200) && ok; ++i)
    ok = in_child([&] {
      return is_forked([&] { (void)collect(pipeline(), {.threads = 2}); }) &&
             is_forked([&] { (void)collect(pipeline(), {.executor = shared}); });
    });
  CHECK(ok);
  done = true;
  busy.join();
}

namespace {
// Its order can be held while it is asked: then the caller's thread is inside the engine, whose mutex it holds.
struct Held {
  std::atomic<bool>*hold, *inside;
  std::uint64_t size(std::uint64_t n) const { return n; }
  void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint>) const {
    *inside = true;
    while (*hold) std::this_thread::sleep_for(1ms);
  }
  std::string name() const { return "held"; }
  std::string describe() const { return ""; }
};
}  // namespace

TEST_CASE("a fork in the worst moment leaves a child that can't get stuck") {
  const Watchdog dog(120s);
  std::atomic<bool> hold{true}, inside{false};
  std::stop_source stop;
  auto loader = std::make_unique<ps::Loader>(ps::from(Records{.count = 500}) | Held{&hold, &inside} | ps::batch(8),
                                             ps::LoaderOptions{.threads = 2, .stop = stop.get_token()});
  std::optional<ps::Batch> first;
  std::jthread consumer([&] { first = loader->next(); });
  REQUIRE(eventually([&] { return inside.load(); }));
  CHECK(in_child([&] {
    loader->stop();
    stop.request_stop();
    bool ok = is_forked([&] { (void)loader->report(); });
    ok &= is_forked([&] { (void)loader->state(); });
    ok &= is_forked([&] { (void)loader->next(); });
    loader.reset();
    return ok;
  }));
  hold = false;
  consumer.join();
  REQUIRE(first);
  CHECK(first->size() == 8);
}

namespace {

struct Twice {
  std::uint32_t count(const ps::Sample&, ps::Context&) const { return 2; }
  void child(const ps::Sample&, std::uint32_t, ps::Sample&, ps::Context&) const {}
};

struct InOrder {
  Records records;
  std::uint64_t at = 0;
  ps::Schema schema() const { return records.schema(); }
  void reset(std::uint64_t) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (at == records.size()) return false;
    records.read(at++, out);
    return true;
  }
};

// Half of them are placed directly, the others reordered.
ps::Pipeline shape(const Records& source, std::uint64_t r) {
  switch (mix(r + 4) % 8) {
    case 0:
      return ps::from(source) | ps::seed(r) |
             ps::filter([](const ps::Sample& s) { return s.scalar<std::int64_t>("y") % 3 != 0; });
    case 1:
      return ps::from(source) | ps::shuffle({.seed = r}) | Twice{};
    case 2:
      return ps::from(InOrder{source}) | ps::shuffle({.seed = r, .window = 16});
    case 3:
      return ps::from(InOrder{source}) | ps::seed(r) | Twice{} | ps::on_error({.policy = ps::OnError::drop});
    default:
      return ps::from(source) | ps::shuffle({.seed = r});
  }
}

}  // namespace

TEST_CASE("2,000 stops at any moment return at once and leave no thread and no descriptor", "[alone]") {
  const Watchdog dog(300s);
  // Warm: the thread pool keeps what it once had.
  (void)collect(pipeline(), {.threads = 4}, 1);
  {
    ps::Loader warm(pipeline(), {.threads = 4});
    (void)warm.next();
  }
  const unsigned threads = thread_count(), fds = fd_count();
  double longest = 0;
  const std::uint64_t rounds = scaled(2000, 100);
  const char* given = std::getenv("PENSTOCK_SEED");
  const std::uint64_t base = given != nullptr ? std::strtoull(given, nullptr, 10) : 0;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::uint64_t r = mix(base + i);
    Records source{.count = 300};
    if (r % 5 == 0) source.shared->faults[mix(r) % 300] = static_cast<Fault>(r % 6);
    if (r % 3 == 0)
      source.shared->before_read = [r](std::uint64_t index) {
        if (mix(index + r) % 20 == 0) std::this_thread::sleep_for(std::chrono::microseconds(mix(index) % 300));
      };
    std::optional<std::stop_source> stop;
    stop.emplace();
    auto loader = std::make_unique<ps::Loader>(shape(source, r) | AddDraw{} | ps::batch(1 + mix(r + 1) % 20),
                                               ps::LoaderOptions{.threads = 1 + static_cast<unsigned>(mix(r + 2) % 4),
                                                                 .depth = 2 + static_cast<unsigned>(r % 3),
                                                                 .stop = stop->get_token()});
    ps::Batch held;
    const std::uint64_t batches = mix(r + 3) % 12;
    const auto body = [&] {
      std::uint64_t n = 0;
      for (ps::Batch& b : loader->epoch()) {
        if (n++ >= batches) {
          if (r % 4 == 1) throw std::runtime_error("the caller's");
          if (r % 4 == 2) stop->request_stop();
          if (r % 4 == 3) held = std::move(b);
          break;
        }
      }
    };
    try {
      if (r % 7 != 6) body();
      if (r % 7 == 5) body();  // the next epoch begins while the last one's samples are in work
    } catch (const std::exception&) {
    }
    const auto begun = std::chrono::steady_clock::now();
    loader.reset();
    longest = std::max(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
  CAPTURE(base, rounds, longest);
  CHECK(longest < 1.0 * (sanitized() ? 5 : 1));
  CHECK(eventually([&] { return thread_count() <= threads; }));
  CHECK(fd_count() == fds);
}

namespace {
// Values of 1 to 20 KiB, in memory of the reader's own, summed up by a map.
struct Varying {
  std::uint64_t count;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"bytes", ps::DType::u8, {ps::dynamic}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    auto v = out.emplace<std::uint8_t, 1>(0, {static_cast<std::int64_t>(1024 + mix(i) % (19 * 1024))});
    std::uint8_t n = static_cast<std::uint8_t>(i);
    for (std::uint8_t& b : v) b = n++;
  }
};
}  // namespace

TEST_CASE("memory stays flat over 1,000 epochs with a new loader each, and buffers are allocated once") {
  const Watchdog dog(300s);
  const ps::Pipeline p = ps::from(Varying{40}) | ps::shuffle() |
                         ps::map("bytes",
                                 [](ps::View<const std::uint8_t, 1> in, ps::View<std::uint8_t, 1> out) {
                                   for (std::int64_t i = 0; i < out.extent(0); ++i)
                                     out(i) = i < in.extent(0) ? in(i) : std::uint8_t{0};
                                 },
                                 {.shape = ps::Shape{20 * 1024}}) |
                         ps::batch(4);
  const std::uint64_t epochs = scaled(1000, 60);
  std::uint64_t at_20 = 0;
  {
    // Every thread has a heap of its own, so all must have worked before; on a busy machine runners come late.
    ps::Loader loader(p, {.threads = 2, .depth = 4});
    REQUIRE(eventually([&] {
      (void)collect(loader, 20);
      return loader.report().threads_seen == 2;
    }));
    (void)collect(loader, 20);
  }
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    ps::testing::StatisticsResource memory(ps::host_memory());
    {
      ps::Loader loader(p, {.threads = 2, .depth = 4, .host_memory = &memory, .epochs = 1});
      std::uint64_t batches = 0, allocations = 0;
      for (ps::Batch& b : loader.epoch()) {
        (void)b;
        if (++batches == 2) allocations = memory.allocations();
      }
      REQUIRE(batches == 10);
      REQUIRE(memory.allocations() == allocations);
      REQUIRE(allocations == 1);
    }
    REQUIRE(memory.used() == 0);
    if (epoch == 20) at_20 = resident_bytes();
  }
  const std::uint64_t at_end = resident_bytes();
  CAPTURE(at_20 >> 10, at_end >> 10);
  // Under AddressSanitizer freed memory is kept on purpose.
  if (!sanitized()) CHECK(static_cast<double>(at_end) <= 1.01 * static_cast<double>(at_20) + (4 << 20));
}

TEST_CASE("memory of one loader stays flat over many epochs") {
  const Watchdog dog(300s);
  ps::testing::StatisticsResource memory(ps::host_memory());
  ps::Loader loader(
      ps::from(Varying{20}) | ps::map([](ps::Sample&, ps::Context&) {}) |
          ps::map("bytes",
                  [](ps::View<const std::uint8_t, 1> in, ps::View<std::uint64_t, 0> out) { out() = in.size(); },
                  {.shape = ps::Shape{}}) |
          ps::batch(4),
      {.threads = 2, .host_memory = &memory});
  const std::uint64_t epochs = scaled(3000, 100);
  std::uint64_t at_20 = 0;
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (ps::Batch& b : loader.epoch()) (void)b;
    if (epoch == 20) at_20 = resident_bytes();
  }
  CHECK(memory.allocations() == loader.report().batch_allocations);
  if (!sanitized()) CHECK(static_cast<double>(resident_bytes()) <= 1.01 * static_cast<double>(at_20) + (4 << 20));
}

namespace {
// Halves every byte, on whatever the stream belongs to.
struct Halve {
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::vector<std::string> writes() const { return {"bytes"}; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    const ps::TensorView from = in["bytes"], to = out["bytes"];
    const std::size_t bytes = from.bytes();
    ps::launch_on_host(stream, "halve", [=] {
      for (std::size_t i = 0; i < bytes; ++i) to.data[i] = from.data[i] >> 1;
    });
  }
};
}  // namespace

TEST_CASE("host and pinned and device memory stay flat over 1,000 epochs on devices with a new loader each") {
  const Watchdog dog(300s);
  ps::EmulatedGpu gpus[] = {ps::EmulatedGpu(), ps::EmulatedGpu()};
  const ps::Pipeline source = ps::from(Varying{40}) | ps::shuffle();
  const ps::Pipeline ragged = source | ps::ragged("bytes") | ps::batch(4);
  const ps::Pipeline dense = source |
                             ps::map("bytes",
                                     [](ps::View<const std::uint8_t, 1> in, ps::View<std::uint8_t, 1> out) {
                                       for (std::int64_t i = 0; i < out.extent(0); ++i)
                                         out(i) = i < in.extent(0) ? in(i) : std::uint8_t{0};
                                     },
                                     {.shape = ps::Shape{20 * 1024}}) |
                             ps::batch(4) | Halve{};
  // Every thread has a heap of its own, of which there are several a core: all must have been used before.
  const std::uint64_t warm = scaled(300, 20), epochs = scaled(1000, 60);
  std::uint64_t at_20 = 0;
  std::size_t most[2] = {0, 0};
  for (std::uint64_t epoch = 0; epoch < warm + epochs; ++epoch) {
    const std::vector<ps::Device> devices{gpus[0].device(), gpus[1].device()};
    const ps::StreamRef streams[2];
    std::uint64_t batches = 0;
    {
      ps::Loader loader(epoch % 2 == 0 ? dense : ragged, {.devices = devices, .threads = 2, .depth = 3, .epochs = 1});
      while (auto parts = loader.next_parts(streams)) ++batches;
    }
    REQUIRE(batches == 10);
    for (const ps::EmulatedGpu& gpu : gpus) {
      REQUIRE(gpu.device_bytes_used() == 0);
      REQUIRE(gpu.pinned_bytes_used() == 0);
    }
    if (epoch == warm + 20) at_20 = resident_bytes();
  }
  const std::uint64_t at_end = resident_bytes();
  // One loader, epoch after epoch.
  ps::Loader loader(dense, {.devices = {gpus[0].device(), gpus[1].device()}, .threads = 2});
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const ps::StreamRef streams[2];
    while (auto parts = loader.next_parts(streams)) {
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t used = gpus[i].device_bytes_used() + gpus[i].pinned_bytes_used();
      if (epoch == 0) most[i] = used;
      REQUIRE(used == most[i]);
    }
  }
  CAPTURE(at_20 >> 10, at_end >> 10);
  if (!sanitized()) CHECK(static_cast<double>(at_end) <= 1.01 * static_cast<double>(at_20) + (4 << 20));
}
