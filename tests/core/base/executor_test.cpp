// SPDX-License-Identifier: Apache-2.0
// Threads: other people's arenas, too few of them, shared ones.
#include "support/catch.hpp"

#include <sched.h>

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "base/executor_impl.hpp"
#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {
ps::Pipeline pipeline() { return ps::from(Records{.count = 200}) | ps::shuffle() | AddDraw{} | ps::batch(8); }
const std::vector<Got>& expected() {
  static const std::vector<Got> batches = collect(pipeline(), {.threads = 1}, 2);
  return batches;
}
void check(const std::vector<Got>& got) {
  REQUIRE(got.size() == expected().size());
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == expected()[i]);
}
}  // namespace

TEST_CASE("an executor has the threads it was asked for", "[alone]") {
  CHECK(ps::Executor(3).threads() == 3);
  CHECK(ps::Executor().threads() >= 1);
  const ps::Executor a(2);
  const ps::Executor b = a;
  CHECK(b.threads() == 2);
}

TEST_CASE("as many threads as were asked for really run at once", "[alone]") {
  const Watchdog dog(60s);
  for (const unsigned threads : {1u, 4u, 16u, 3u}) {
    const ps::Executor executor(threads);
    Meeting all(threads);
    std::atomic<unsigned> done{0};
    for (unsigned i = 0; i < threads; ++i)
      executor.impl().submit([&] {
        all.attend();
        ++done;
      });
    CHECK(eventually([&] { return done == threads; }));
    CHECK(all.complete());
    CHECK(executor.impl().waiting() == 0);
  }
}

TEST_CASE("loaders with executors of their own both get on, however busy the other one is", "[alone]") {
  const Watchdog dog(60s);
  for (const unsigned threads : {0u, 2u}) {
    const ps::Pipeline busy = ps::from(Records{.count = 1'000'000}) |
                              ps::map([](ps::Sample&, ps::Context&) { std::this_thread::sleep_for(200us); }) |
                              ps::batch(8);
    ps::Loader first(busy, {.threads = threads, .depth = 8}), second(busy, {.threads = threads, .depth = 8});
    std::atomic<bool> done{false};
    std::jthread other([&] {
      while (!done) (void)first.next();
    });
    std::this_thread::sleep_for(20ms);
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 40; ++i) (void)second.next();
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    done = true;
    other.join();
    CAPTURE(threads, took);
    // 320 samples of a quarter millisecond: 0.08 s with one thread of its own.
    CHECK(took < 0.3 * (sanitized() ? 5 : 1));
  }
}

TEST_CASE("runners that give way are counted, and so is what they have made", "[alone]") {
  const Watchdog dog(60s);
  const ps::Executor one(1);
  Records a{.count = 100'000}, b{.count = 100'000};
  for (const Records* source : {&a, &b})
    source->shared->before_read = [](std::uint64_t) { std::this_thread::sleep_for(500us); };
  // Batches of more samples than a turn is long: each runner gives way in the middle of some.
  ps::Loader first(ps::from(a) | ps::batch(16), {.executor = one, .depth = 4});
  ps::Loader second(ps::from(b) | ps::filter([](const ps::Sample&) { return true; }) | ps::batch(16),
                    {.executor = one, .depth = 4});
  for (int i = 0; i < 12; ++i) {
    CHECK(first.next());
    CHECK(second.next());
  }
  // Nobody asks either of the two any more. Both fill their rings, and get a runner again where there is room.
  for (int i = 0; i < 5; ++i)
    for (const auto& [loader, source] : {std::pair{&first, &a}, std::pair{&second, &b}}) {
      std::uint64_t reads = 0;
      CHECK(eventually([&, reads_before = ~std::uint64_t{0}]() mutable {
        std::this_thread::sleep_for(20ms);
        reads = source->shared->reads;
        return reads == std::exchange(reads_before, reads);
      }));
      CHECK(loader->next());  // and the room of one batch is there
      CHECK(eventually([&] { return source->shared->reads >= reads + 16; }));
    }
}

TEST_CASE("an executor without a number holds no process-wide setting", "[alone]") {
  const std::size_t before = tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  {
    const ps::Executor executor;
    CHECK(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) == before);
  }
  {
    const ps::Executor executor(32);
    CHECK(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) == 33);
    const ps::Executor more(40);
    CHECK(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) == 41);
  }
  CHECK(tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) == before);
}

TEST_CASE("a loader works inside the caller's own arena, also one of a single slot", "[alone]") {
  const Watchdog dog(60s);
  for (const int slots : {1, 2, 4}) {
    tbb::task_arena arena(slots);
    arena.execute([&] {
      ps::Loader loader(pipeline(), {.threads = 2});
      check(collect(loader, 2));
    });
  }
}

TEST_CASE("loaders work inside the caller's own tasks", "[alone]") {
  const Watchdog dog(120s);
  std::vector<std::vector<Got>> got(4);
  tbb::task_group group;
  for (std::size_t i = 0; i < got.size(); ++i)
    group.run([&, i] {
      ps::Loader loader(pipeline(), {.threads = 2});
      got[i] = collect(loader, 2);
    });
  group.wait();
  for (const auto& g : got) check(g);
  std::vector<std::vector<Got>> more(6);
  tbb::parallel_for(std::size_t{0}, more.size(), [&](std::size_t i) {
    ps::Loader loader(pipeline(), {.threads = 1 + static_cast<unsigned>(i % 3)});
    more[i] = collect(loader, 2);
  });
  for (const auto& g : more) check(g);
}

TEST_CASE("an application that allows one thread gets its batches from the caller's own", "[alone]") {
  const Watchdog dog(60s);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  for (const unsigned threads : {0u, 1u, 4u}) {
    ps::Loader loader(pipeline(), {.threads = threads});
    check(collect(loader, 2));
  }
  tbb::task_arena arena(1);
  arena.execute([&] {
    ps::Loader loader(pipeline(), {.threads = 2});
    check(collect(loader, 2));
  });
}

TEST_CASE("a caller that sits on the executor's only thread makes its samples itself", "[alone]") {
  const Watchdog dog(60s);
  const ps::Executor executor(1);
  std::vector<Got> got;
  std::atomic<bool> done{false};
  executor.impl().submit([&] {
    ps::Loader loader(pipeline(), {.executor = executor});
    got = collect(loader, 2);
    done = true;
  });
  REQUIRE(eventually([&] { return done.load(); }));
  check(got);
}

TEST_CASE("a loader may be built, used and destroyed on any thread", "[alone]") {
  const Watchdog dog(60s);
  auto loader = std::make_unique<ps::Loader>(pipeline(), ps::LoaderOptions{.threads = 2});
  std::vector<Got> got;
  std::jthread([&] { got = collect(*loader); }).join();
  std::jthread([&] {
    auto more = collect(*loader);
    got.insert(got.end(), more.begin(), more.end());
  }).join();
  check(got);
  std::jthread([&] { loader.reset(); }).join();
}

TEST_CASE("report and stop may be called from other threads", "[alone]") {
  const Watchdog dog(60s);
  ps::Loader loader(pipeline(), {.threads = 2});
  std::atomic<bool> done{false};
  std::jthread reporter([&] {
    while (!done) {
      const ps::Report r = loader.report();
      if (r.samples > 8 * r.batches) std::abort();
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 5; ++i) (void)collect(loader);
  loader.stop();
  done = true;
}

TEST_CASE("on one core every thread count works", "[alone]") {
  if (!inner()) {
    const Watchdog dog(120s);
    // The library counts the cores it may use, so the limit must be there before it starts.
    CHECK(run_inner("on one core every thread count works", [] {
            cpu_set_t set;
            CPU_ZERO(&set);
            CPU_SET(0, &set);
            ::sched_setaffinity(0, sizeof set, &set);
          }) == 0);
    return;
  }
  for (const unsigned threads : {0u, 1u, 2u, 16u}) {
    const auto meeting = std::make_shared<Meeting>(std::max(1u, threads));
    const ps::Pipeline p = ps::from(Records{.count = 200}) | ps::shuffle() |
                           ps::map([meeting](ps::Sample&, ps::Context&) { meeting->attend(); }) | AddDraw{} |
                           ps::batch(8);
    ps::Loader loader(p, {.threads = threads});
    check(collect(loader, 2));
    CHECK(meeting->complete());
    if (threads == 0) CHECK(loader.report().threads == 1);
  }
}

}  // namespace PENSTOCK_TEST_FILE
