// Runners with work of a test's own: when they come, help, leave, and what becomes of readers that can't be opened.
#include "engine/runner_pool.hpp"

#include <atomic>
#include <future>
#include <memory>
#include <optional>

#include "core/help.hpp"
#include "support/catch.hpp"

using namespace help;
using namespace penstock::detail;

namespace {

// Counts down. Readers beyond the first `openable` can't be opened.
class Countdown final : public RunnerWork {
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
    if (do_one()) ++helped;
  }
  const ps::detail::SourceModel& source() const { return *data_->source; }

 private:
  std::shared_ptr<const PipelineData> data_;

 public:
  const Chain chain;
  std::atomic<int> left, helped{0};

 private:
  bool do_one() noexcept { return left.load() > 0 && left.fetch_sub(1) > 0; }
  std::atomic<int> openable_;
};

// A pool, its monitor, and an executor whose only thread can be kept busy.
struct Pool {
  explicit Pool(Countdown& of, unsigned threads = 1)
      : executor(threads), pool(of, of.source(), monitor, executor.impl(), threads) {
    monitor.paused.store(false);
  }
  ~Pool() { close(); }
  void occupy() {
    std::promise<void> begun;
    executor.impl().submit([this, &begun] {
      begun.set_value();
      free.get_future().wait();
    });
    begun.get_future().wait();
  }
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
    pool.close_door();
    Monitor::Lock lock(monitor.mutex);
    monitor.closed = true;
    monitor.changed.wait(lock, [this] { return pool.idle(); });
  }

  std::promise<void> free;
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
  p.occupy();
  p.wake();
  CHECK(p.wait([&] { return work.left <= 0; }));
  CHECK(work.helped == 20);
  p.free.set_value();
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

TEST_CASE("a task that finds the door closed touches nothing") {
  const Watchdog watchdog(30s);
  ps::Executor executor(1);
  std::promise<void> begun, free;
  executor.impl().submit([&] {
    begun.set_value();
    free.get_future().wait();
  });
  begun.get_future().wait();
  {
    Countdown work(10);
    Monitor monitor;
    monitor.paused.store(false);
    RunnerPool pool(work, work.source(), monitor, executor.impl(), 1);
    {
      Monitor::Lock lock(monitor.mutex);
      pool.wake(lock);
    }
    pool.close_door();
    CHECK(work.left == 10);
  }
  free.set_value();  // its task comes now
}
