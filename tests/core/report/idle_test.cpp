// SPDX-License-Identifier: Apache-2.0
// Why runners had nothing to do, as the report says it. Bottlenecks are planted with sleeps that are long against
// everything else, so that a busy machine changes no order of reasons.
#include "support/catch.hpp"

#include "core/help.hpp"
#include "core/reorder/reordered_help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

Records sleeping(std::uint64_t count, std::function<std::chrono::milliseconds(std::uint64_t)> how_long) {
  Records source{.count = count};
  source.shared->before_read = [how_long](std::uint64_t i) { std::this_thread::sleep_for(how_long(i)); };
  return source;
}

double share(const ps::Report& report, ps::Idle why) {
  for (const ps::IdleShare& idle : report.idle)
    if (idle.why == why) return idle.share;
  return 0;
}

ps::Report run(const ps::Pipeline& pipeline, const ps::LoaderOptions& options, std::chrono::milliseconds caller = 0ms) {
  ps::Loader loader(pipeline, options);
  std::optional<ps::Batch> held;  // until the next one is there, as training loops do
  while (auto batch = loader.next()) {
    held = std::move(batch);
    std::this_thread::sleep_for(caller);
  }
  return loader.report();
}

}  // namespace

TEST_CASE("runners without work say whom they wait for", "[alone]") {
  const Watchdog dog(60s);
  SECTION("the caller") {
    const ps::Report r = run(ps::from(Records{.count = 80}) | ps::batch(4), {.threads = 2, .epochs = 1}, 10ms);
    REQUIRE_FALSE(r.idle.empty());
    CHECK(r.idle[0].why == ps::Idle::caller);
    CHECK(r.idle[0].share > 0.5);
    CHECK(r.bound == ps::Bound::consumer);
  }
  SECTION("too few batches: one is held, and one sample is all that the other wants") {
    const ps::Report r = run(ps::from(sleeping(60, [](std::uint64_t) { return 5ms; })) | ps::batch(1),
                             {.threads = 2, .depth = 2, .epochs = 1});
    CHECK(share(r, ps::Idle::buffers) > 0.3);
    CHECK(r.idle[0].why == ps::Idle::buffers);
  }
  SECTION("a straggler") {
    const ps::Report r =
        run(ps::from(sleeping(96, [](std::uint64_t i) { return i % 24 == 1 ? 60ms : 0ms; })) | ps::batch(2),
            {.threads = 2, .depth = 4, .epochs = 1});
    CHECK(share(r, ps::Idle::straggler) > 0.3);
    CHECK(r.idle[0].why == ps::Idle::straggler);
  }
  SECTION("cells of a reordered pipeline") {
    const ps::Report r = run(ps::from(sleeping(400, [](std::uint64_t i) { return i % 40 == 1 ? 40ms : 0ms; })) |
                                 ps::filter([](const ps::Sample&) { return true; }) | ps::batch(64),
                             {.threads = 2, .max_reorder_bytes = 1, .epochs = 1});
    CHECK(share(r, ps::Idle::entries) > 0.3);
    CHECK(r.idle[0].why == ps::Idle::entries);
  }
  SECTION("an order") {
    struct Slow {
      std::uint64_t size(std::uint64_t n) const { return n; }
      void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint>) const { std::this_thread::sleep_for(20ms); }
      std::string name() const { return "slow"; }
      std::string describe() const { return ""; }
    };
    const ps::Report r =
        run(ps::from(Records{.count = 80}) | ps::order(Slow{}) | ps::batch(4), {.threads = 2, .epochs = 1});
    CHECK(share(r, ps::Idle::order) > 0.6);
    CHECK(r.idle[0].why == ps::Idle::order);
    CHECK(r.bound == ps::Bound::order);
  }
}

TEST_CASE("an order that is asked while all runners rest already is what they wait for", "[alone]") {
  const Watchdog dog(60s);
  struct SlowOnce {
    std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
    std::uint64_t size(std::uint64_t n) const { return n; }
    void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint>) const {
      if (++*calls == 6) std::this_thread::sleep_for(600ms);
    }
    std::string name() const { return "slow_once"; }
    std::string describe() const { return ""; }
  };
  ps::Loader loader(ps::from(Records{.count = 40}) | ps::order(SlowOnce{}) | ps::batch(4),
                    {.threads = 2, .depth = 2, .epochs = 1});
  std::optional<ps::Batch> held;
  while (auto batch = loader.next()) {
    std::this_thread::sleep_for(5ms);
    held = std::move(batch);  // lets one go, and so has the order asked for the next one
  }
  const ps::Report r = loader.report();
  CHECK(share(r, ps::Idle::order) > 0.6);
  CHECK(share(r, ps::Idle::leases) < 0.3);
}

TEST_CASE("a report of a running loader counts the time in which all runners are in work", "[alone]") {
  const Watchdog dog(60s);
  ps::Loader loader(ps::from(sleeping(100'000, [](std::uint64_t) { return 2ms; })) | ps::batch(4), {.threads = 2});
  REQUIRE(loader.next());
  std::this_thread::sleep_for(400ms);
  const auto begun = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begun < 1200ms) REQUIRE(loader.next());
  const ps::Report r = loader.report();
  const double away = share(r, ps::Idle::caller) + share(r, ps::Idle::pause);
  CHECK(away > 0.1);
  CHECK(away < 0.45);
}

TEST_CASE("a batch that an early end of the epoch gives up was still ready for the caller", "[alone]") {
  const Watchdog dog(60s);
  ps::Loader loader(ps::from(Records{.count = 1000}) | ps::batch(4), {.threads = 2, .depth = 2});
  auto held = loader.next();
  REQUIRE(held);
  std::this_thread::sleep_for(500ms);
  loader.end_epoch();
  REQUIRE(loader.next());
  const ps::Report r = loader.report();
  CHECK(share(r, ps::Idle::caller) + share(r, ps::Idle::pause) > 0.5);
  CHECK(share(r, ps::Idle::buffers) < 0.3);
}

TEST_CASE("idle shares are told as text and as JSON", "[alone]") {
  ps::Report r;
  r.idle = {{ps::Idle::straggler, 0.25}, {ps::Idle::block_memory, 0.125}};
  CHECK(r.text().find("runners had nothing to do: 25 % straggler, 12 % block_memory") != std::string::npos);
  CHECK(r.json().find("\"idle\": {\"straggler\": 0.25, \"block_memory\": 0.125}") != std::string::npos);
}

}  // namespace PENSTOCK_TEST_FILE
