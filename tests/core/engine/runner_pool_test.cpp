// SPDX-License-Identifier: Apache-2.0
// Runners with work of a test's own: when they come, help, leave, and what becomes of readers that can't be opened.
#include "engine/runner_pool.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/clock.hpp"
#include "base/cores.hpp"
#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;
using namespace penstock::detail::runtime;

namespace {

// Counts down. Readers beyond the first `openable` can't be opened.
class Countdown final : public PoolWork {
 public:
  explicit Countdown(int pieces, int openable = 1000)
      : data_(std::make_shared<const PipelineData>(ps::from(Records(1)).data())),
        chain(data_),
        left(pieces),
        openable_(openable) {}

  std::unique_ptr<ChainRun> open_run() override {
    if (openable_.fetch_sub(1) <= 0) throw ps::Error(ps::Errc::io, "there is no reader");
    return std::make_unique<ChainRun>(chain, ~std::size_t{0}, data_->source->open_reader());
  }
  bool has_work() noexcept override { return left.load() > 0; }
  bool work(ChainRun&) noexcept override {
    while (do_one()) {
    }
    return false;
  }
  void help(ChainRun&) noexcept override {
    volatile float half = std::numeric_limits<float>::min();
    half = half * 0.5f;
    if (half == 0.0f) ++flushed;
    if (do_one()) ++helped;
  }

 private:
  std::shared_ptr<const PipelineData> data_;

 public:
  const Chain chain;
  std::atomic<int> left, helped{0}, flushed{0};

 private:
  bool do_one() noexcept { return left.load() > 0 && left.fetch_sub(1) > 0; }
  std::atomic<int> openable_;
};

// Keeps the only thread of an executor busy. Its task may end after this does.
class OccupiedThread {
 public:
  explicit OccupiedThread(const ps::Executor& executor) {
    const auto begun = std::make_shared<std::promise<void>>();
    executor.impl().submit([begun, freed = free_.get_future().share()] {
      begun->set_value();
      freed.wait();
    });
    begun->get_future().wait();
  }
  void free() { free_.set_value(); }

 private:
  std::promise<void> free_;
};

// A pool, its monitor, and an executor.
struct Pool {
  explicit Pool(Countdown& of, unsigned threads = 1)
      : executor(threads), pool(of, monitor, executor.impl(), threads, threads) {
    monitor.paused.store(false);
  }
  ~Pool() { close(); }
  void wake() {
    Monitor::Lock lock(monitor.mutex);
    pool.wake(lock);
  }
  // True: `done` came before all runners failed.
  bool wait(const auto& done) {
    Monitor::Lock lock(monitor.mutex);
    while (!done() && !pool.failed()) pool.sleep_or_help(lock, done);
    return done();
  }
  void close() {
    pool.cut_link();
    Monitor::Lock lock(monitor.mutex);
    monitor.closed = true;
    monitor.changed.wait(lock, [this] { return pool.idle(); });
  }

  Monitor monitor;
  ps::Executor executor;
  RunnerPool pool;
};

}  // namespace

TEST_CASE("runners do all there is and leave, and come again for more") {
  const Watchdog watchdog(30s);
  Countdown work(1000);
  Pool p(work, 2);
  for (int round = 0; round < 50; ++round) {
    work.left = 100;
    p.wake();
    CHECK(p.wait([&] { return work.left <= 0; }));
  }
  Monitor::Lock lock(p.monitor.mutex);
  p.monitor.changed.wait(lock, [&] { return p.pool.idle(); });
  RunTotals totals;
  p.pool.add_to(totals);
  CHECK(totals.readers <= 3);  // two runners, and the thread that waits
  CHECK(totals.threads_seen >= 1);
}

TEST_CASE("where no thread comes the one that waits does the work") {
  const Watchdog watchdog(30s);
  Countdown work(20);
  Pool p(work);
  OccupiedThread occupied(p.executor);
  p.wake();
#if defined(__x86_64__)
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040u);  // denormal numbers are zero
#endif
  CHECK(p.wait([&] { return work.left <= 0; }));
#if defined(__x86_64__)
  _mm_setcsr(before);
#endif
  CHECK(work.helped == 20);
  CHECK(work.flushed == 0);
  occupied.free();
}

TEST_CASE("a reader that can't be opened is one runner fewer, and without any the pool has failed") {
  const Watchdog watchdog(30s);
  Countdown some(1000, 1);
  Pool p(some, 4);
  p.wake();
  CHECK(p.wait([&] { return some.left <= 0; }));
  {
    const Monitor::Lock lock(p.monitor.mutex);
    CHECK(!p.pool.failed());
  }

  Countdown none(1000, 0);
  Pool q(none, 2);
  q.wake();
  CHECK(!q.wait([&] { return none.left <= 0; }));
  Monitor::Lock lock(q.monitor.mutex);
  REQUIRE(q.pool.reader_error());
  CHECK(q.pool.reader_error()->cause() == "there is no reader");
  CHECK(q.pool.reader_error()->stage() == "read");
  q.monitor.changed.wait(lock, [&] { return q.pool.idle(); });
  q.pool.forget_failures();
  CHECK(!q.pool.failed());
}

namespace {

// Samples without end, each as long as the test wants it; counts who makes them at once.
class Endless final : public PoolWork {
 public:
  Endless() : data_(std::make_shared<const PipelineData>(ps::from(Records(1)).data())), chain_(data_) {}

  std::unique_ptr<ChainRun> open_run() override {
    ++opened;
    return std::make_unique<ChainRun>(chain_, ~std::size_t{0}, data_->source->open_reader());
  }
  bool has_work() noexcept override { return !over; }
  bool work(ChainRun& run) noexcept override {
    const int now = ++at_once;
    for (int most = seen; most < now && !seen.compare_exchange_weak(most, now);) {
    }
    while (!over && !pool->crowded()) one(run);
    --at_once;
    return false;
  }
  void help(ChainRun& run) noexcept override { one(run); }
  void one(ChainRun& run) noexcept {
    if (++made % 100 == 0 && long_ms != 0) std::this_thread::sleep_for(std::chrono::milliseconds(long_ms));
    run.counters.totals.samples.add(1);
  }

 private:
  std::shared_ptr<const PipelineData> data_;
  const Chain chain_;

 public:
  std::atomic<int> long_ms{0};
  RunnerPool* pool = nullptr;
  std::atomic<bool> over{false};
  std::atomic<int> opened{0}, at_once{0}, seen{0};
  std::atomic<std::uint64_t> made{0};
};

// A pool of as many runners, and a caller that asks again and again whether it should work along.
struct BusyPool {
  explicit BusyPool(unsigned threads, int long_ms = 0)
      : executor(threads), pool(work, monitor, executor.impl(), threads, threads) {
    work.long_ms = long_ms;
    work.pool = &pool;
    monitor.paused.store(false);
    Monitor::Lock lock(monitor.mutex);
    pool.wake(lock);
  }
  ~BusyPool() {
    work.over = true;
    pool.cut_link();
    Monitor::Lock lock(monitor.mutex);
    monitor.closed = true;
    monitor.changed.wait(lock, [this] { return pool.idle(); });
  }
  // What it is told when it has asked until `right`, or for so long.
  ChainRun* ask(bool busy, std::chrono::milliseconds limit, const auto& right) {
    ChainRun* run = nullptr;
    const auto begun = std::chrono::steady_clock::now();
    do {
      std::this_thread::sleep_for(1ms);
      run = pool.join(now_ns(), busy);
    } while (!right(run) && std::chrono::steady_clock::now() - begun < limit);
    return run;
  }

  Endless work;
  Monitor monitor;
  ps::Executor executor;
  RunnerPool pool;
};

}  // namespace

TEST_CASE("where samples are short the caller is one of as many runners as there are cores") {
  const unsigned cores = usable_cores();
  if (cores == 1) PENSTOCK_SKIP("one core");
  const Watchdog watchdog(60s);
  for (const unsigned threads : {cores, cores + 6}) {
    CAPTURE(threads);
    BusyPool p(threads);
    const auto joined = [](const ChainRun* run) { return run != nullptr; };
    ChainRun* const run = p.ask(false, 20s, joined);
    REQUIRE(run != nullptr);
    const auto alive = [&] { return static_cast<unsigned>(p.work.at_once.load()); };
    const auto until = [&](unsigned runners) {
      for (int ms = 0; ms < 5000 && alive() != runners; ++ms) std::this_thread::sleep_for(1ms);
      return alive();
    };
    CHECK(until(cores - 1) == cores - 1);
    p.work.one(*run);
    p.pool.count_joined(1, 100);

    CHECK(p.ask(true, 1ms, [](const ChainRun* r) { return r == nullptr; }) == nullptr);
    CHECK(until(cores) >= cores);  // all there are, where the machine is so busy that samples look long
    CHECK(p.ask(false, 20s, joined) != nullptr);
    CHECK(until(cores - 1) == cores - 1);
    p.pool.note_long(true);
    CHECK_FALSE(p.pool.short_samples());
    if (threads == cores) {
      CHECK(p.pool.join(now_ns(), false) == nullptr);
    } else {  // it goes to sleep instead
      Monitor::Lock lock(p.monitor.mutex);
      p.pool.leave_if_long(lock);
    }
    CHECK(until(threads) == threads);
    CHECK(p.work.opened <= static_cast<int>(threads));
    const Monitor::Lock lock(p.monitor.mutex);
    RunTotals totals;
    p.pool.add_to(totals);
    CHECK(totals.joined == 1);
    CHECK(totals.helped == 0);
    CHECK(totals.samples.all <= p.work.made);
  }
}

TEST_CASE("a caller is no runner where it has a core for itself") {
  const unsigned cores = usable_cores();
  if (cores == 1) PENSTOCK_SKIP("one core");
  const Watchdog watchdog(60s);
  BusyPool p(cores - 1);
  CHECK(p.ask(false, 50ms, [](const ChainRun* run) { return run != nullptr; }) == nullptr);
}

TEST_CASE("a long sample among a hundred short ones makes them long, and all runners stay") {
  const unsigned cores = usable_cores(), threads = cores + 3;
  const Watchdog watchdog(60s);
  BusyPool p(threads, 50);
  std::this_thread::sleep_for(100ms);
  const auto wrong = [&](const ChainRun* run) { return run != nullptr || p.pool.short_samples(); };
  CHECK(p.ask(false, 500ms, wrong) == nullptr);
  CHECK_FALSE(p.pool.short_samples());
  CHECK(p.work.seen == static_cast<int>(threads));
  CHECK(p.work.at_once == static_cast<int>(threads));
}

TEST_CASE("a task that finds the link cut touches nothing") {
  const Watchdog watchdog(30s);
  ps::Executor executor(1);
  OccupiedThread occupied(executor);
  {
    Countdown work(10);
    Monitor monitor;
    monitor.paused.store(false);
    RunnerPool pool(work, monitor, executor.impl(), 1, 1);
    {
      Monitor::Lock lock(monitor.mutex);
      pool.wake(lock);
    }
    pool.cut_link();
    CHECK(work.left == 10);
  }
  occupied.free();  // its task comes now
}
