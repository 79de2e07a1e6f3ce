// SPDX-License-Identifier: Apache-2.0
// Orders, readers and keys of the user's that fail, are slow, or call back: what came before them is not lost, and
// nothing hangs.
#include "support/catch.hpp"

#include "core/help.hpp"

using namespace help;

namespace {

// Asks `before` about every position.
struct Asked {
  std::function<void(std::uint64_t)> before;
  std::uint64_t size(std::uint64_t n) const { return n; }
  void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint> points) const {
    for (const ps::OrderPoint& p : points) before(p.position);
  }
  std::string name() const { return "asked"; }
  std::string describe() const { return ""; }
};
Asked failing_at(std::uint64_t position) {
  return {[position](std::uint64_t p) {
    if (p >= position) throw std::runtime_error("no order from here on");
  }};
}

// A source of which only so many readers can be open at a time.
struct Handles {
  int most = 1;
  std::uint64_t count = 200;
  std::shared_ptr<std::atomic<int>> open = std::make_shared<std::atomic<int>>(0);
  struct Reader {
    explicit Reader(std::shared_ptr<std::atomic<int>> o) : open(std::move(o)) {}
    ~Reader() { --*open; }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    void read(std::uint64_t i, ps::SampleBuilder& out) {
      std::this_thread::sleep_for(500us);
      out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i));
    }
    std::shared_ptr<std::atomic<int>> open;
  };
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
  std::string name() const { return "handles"; }
  std::unique_ptr<Reader> open_reader() const {
    if (++*open > most) {
      --*open;
      throw std::runtime_error("no more handles");
    }
    return std::make_unique<Reader>(open);
  }
};

// Whose key of one record can't be told.
struct Nameless : Records {
  std::string key(std::uint64_t i) const {
    if (i == 50) throw std::runtime_error("no key");
    return std::to_string(i);
  }
};

}  // namespace

TEST_CASE("an order that fails comes after the batches before it, at any depth and thread count") {
  const Watchdog dog(120s);
  for (const std::uint64_t at : {0u, 30u, 80u}) {
    for (const unsigned threads : {1u, 2u, 4u}) {
      for (const unsigned depth : {2u, 4u, 16u}) {
        for (const auto pause : {0us, 100us}) {
          Records source{.count = 400};
          source.shared->before_read = [pause](std::uint64_t) {
            if (pause != 0us) std::this_thread::sleep_for(pause);
          };
          ps::Loader loader(ps::from(source) | failing_at(at) | ps::batch(10), {.threads = threads, .depth = depth});
          std::uint64_t delivered = 0;
          const auto error = error_of([&] {
            while (loader.next()) ++delivered;
          });
          CAPTURE(at, threads, depth);
          REQUIRE(error);
          CHECK(error->code() == ps::Errc::user);
          CHECK(error->stage() == "asked");
          CHECK(error->cause() == "no order from here on");
          CHECK(delivered == at / 10);
          CHECK(loader.state().position == at);
        }
      }
    }
  }
}

TEST_CASE("an order may stop the loader and ask for its report") {
  const Watchdog dog(60s);
  ps::Loader* running = nullptr;
  const Asked calls{[&](std::uint64_t p) {
    if (p != 35) return;
    CHECK(running->report().threads == 2);
    running->stop();
  }};
  ps::Loader loader(ps::from(Records{.count = 400}) | calls | ps::batch(10), {.threads = 2, .depth = 2});
  running = &loader;
  std::uint64_t delivered = 0;
  while (loader.next()) ++delivered;
  CHECK(delivered <= 3);
}

TEST_CASE("what a stop left unfinished is not delivered, even where an order keeps its admission busy") {
  const Watchdog dog(60s);
  std::atomic<bool> slow{false}, in_order{false}, in_work{false};
  const Asked order{[&](std::uint64_t) {
    if (!slow) return;
    in_order = true;
    std::this_thread::sleep_for(200ms);
  }};
  const auto stage = [&](ps::Sample& sample, ps::Context& context) {
    auto y = sample.view<std::int64_t, 0>("y");
    y() = -1;
    if (context.place().position == 2) {
      in_work = true;
      while (!context.stop_requested()) std::this_thread::sleep_for(1ms);
      return;  // unfinished
    }
    y() = 7;
  };
  ps::Loader loader(ps::from(Records{.count = 100}) | order | ps::map(stage) | ps::batch(1),
                    {.threads = 1, .depth = 3});
  auto first = loader.next();
  auto second = loader.next();
  REQUIRE(eventually([&] { return in_work.load(); }));
  slow = true;
  std::thread releases([&] { first.reset(); });
  REQUIRE(eventually([&] { return in_order.load(); }));
  std::thread stops([&] { loader.stop(); });
  const auto third = loader.next();
  CHECK(!third);
  releases.join();
  stops.join();
}

TEST_CASE("a reader that can't be opened may stop the loader") {
  const Watchdog dog(30s);
  struct Stopping {
    std::shared_ptr<std::stop_source> stop;
    std::uint64_t size() const { return 10; }
    ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
    std::unique_ptr<Handles::Reader> open_reader() const {
      stop->request_stop();
      throw std::runtime_error("gone");
    }
  };
  const Stopping source{std::make_shared<std::stop_source>()};
  ps::Loader loader(ps::from(source) | ps::batch(2), {.threads = 2, .stop = source.stop->get_token()});
  CHECK(!loader.next());
}

TEST_CASE("where only some readers can be opened they do the work, and the report says so") {
  const Watchdog dog(60s);
  for (const int most : {1, 2}) {
    const Handles source{.most = most};
    {
      ps::Loader loader(ps::from(source) | ps::shuffle() | ps::batch(20), {.threads = 4, .epochs = 2});
      CHECK(collect(loader, 2) ==
            collect(ps::from(Handles{.most = 9}) | ps::shuffle() | ps::batch(20), {.threads = 1, .epochs = 2}, 2));
      const ps::Report report = loader.report();
      CHECK(report.threads_seen <= static_cast<unsigned>(most));
      CHECK(std::ranges::any_of(report.notes, [&](const std::string& n) {
        return n.find(std::to_string(most) + " readers do the work") == 0 &&
               n.find("no more handles") != std::string::npos;
      }));
    }
    CountingSink sink;
    ps::write(ps::from(source), sink, {.threads = 4});
    CHECK(sink.committed == 200);
    CHECK(*source.open == 0);
  }
}

TEST_CASE("a reader that opens slowly, and one that can't be opened, keep nobody from work") {
  struct Slow {
    struct Opened {
      std::atomic<int> count{0};
      std::atomic<bool> go{false}, late{false};
      std::thread::id caller = std::this_thread::get_id();
    };
    std::shared_ptr<Opened> opened = std::make_shared<Opened>();
    struct Reader {
      void read(std::uint64_t i, ps::SampleBuilder& out) {
        std::this_thread::sleep_for(200us);
        out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i));
      }
    };
    std::uint64_t size() const { return 200; }
    ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
    std::unique_ptr<Reader> open_reader() const {
      // The caller, which helps while runners are slow to come, is not the one that is waited for.
      if (std::this_thread::get_id() == opened->caller) return std::make_unique<Reader>();
      const int number = opened->count++;
      if (number == 1) opened->late = !eventually([this] { return opened->go.load(); });
      if (number > 1) throw std::runtime_error("no more handles");
      return std::make_unique<Reader>();
    }
  };
  const Watchdog dog(60s);
  const Slow source;
  ps::Loader loader(ps::from(source) | ps::batch(10), {.threads = 3, .depth = 2});
  for (int epoch = 0; epoch < 1 || (source.opened->count <= 1 && epoch < 50); ++epoch) {
    std::uint64_t batches = 0;
    for ([[maybe_unused]] const ps::Batch& batch : loader.epoch()) {
      ++batches;
      std::this_thread::sleep_for(5ms);  // the ring gets full, and the one runner leaves
    }
    CHECK(batches == 20);
  }
  source.opened->go = true;
  CHECK(source.opened->count > 1);
  CHECK(!source.opened->late);
}

TEST_CASE("what fails ahead of a write is told when all before it is stored, whatever the window") {
  const Watchdog dog(60s);
  for (const std::size_t window : {1u, 2u, 64u}) {
    CAPTURE(window);
    CountingSink sink;
    auto error = error_of([&] {
      ps::write(ps::from(Records{.count = 100}) | failing_at(50), sink, {.threads = 2, .max_in_flight = window});
    });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::user);
    CHECK(error->stage() == "asked");
    CHECK(sink.committed == 50);

    sink = {};
    error =
        error_of([&] { ps::write(ps::from(Nameless{{.count = 100}}), sink, {.threads = 2, .max_in_flight = window}); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::user);
    CHECK(error->stage() == "read");
    CHECK(error->cause() == "no key");
    CHECK(error->source() == "records");
    CHECK(error->index() == 50);
    CHECK(sink.committed == 50);

    // A sample that fails before that comes first.
    Records source{.count = 100};
    source.shared->faults[40] = Fault::corrupt;
    sink = {};
    error =
        error_of([&] { ps::write(ps::from(source) | failing_at(50), sink, {.threads = 2, .max_in_flight = window}); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::corrupt);
    CHECK(sink.committed == 40);
  }
}

TEST_CASE("whatever leaves a user's code, or can't be had, is an Error") {
  auto error = error_of([] {
    const auto part = ps::split({.shares = {1, 1}, .by = ps::SplitOptions::By::key});
    static_cast<void>(ps::from(Nameless{{.count = 100}}) | part);
  });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::user);
  CHECK(error->stage() == "split");
  CHECK(error->index() == 50);

  const ps::Pipeline pipeline = ps::from(Records{.count = 10});
  CountingSink sink;
  const std::vector<std::function<void()>> too_much{
      [&] { ps::write(pipeline, sink, {.max_in_flight = ~std::size_t{0}}); },
      [&] { ps::write(pipeline, sink, {.threads = 1u << 31}); },
      [&] { ps::Loader loader(pipeline | ps::batch(2), {.threads = ~0u}); },
      [&] { ps::Executor executor(~0u); },
  };
  for (const auto& f : too_much) {
    error = error_of(f);
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::invalid_argument);
  }
}

TEST_CASE("an error of a loader inside a stage is no error of the loader around it") {
  const Watchdog dog(30s);
  const auto inner_loader = [](ps::Sample&, ps::Context& context) {
    if (context.place().position == 4) throw ps::Error(ps::Errc::leases_exhausted, "of the inner loader");
  };
  ps::Loader loader(ps::from(Records{.count = 10}) | ps::map(inner_loader) | ps::batch(2), {.threads = 1, .epochs = 2});
  CHECK(loader.next());
  CHECK(loader.next());
  REQUIRE(error_of([&] { (void)loader.next(); })->cause() == "of the inner loader");
  // The epoch is over; the next begins at its first batch.
  const auto batch = loader.next();
  REQUIRE(batch);
  CHECK(batch->epoch() == 1);
  CHECK(batch->number() == 0);
}

TEST_CASE("a write gives way to a loader on the same executor") {
  const Watchdog dog(60s);
  const ps::Executor executor(1);
  std::stop_source stop;
  std::jthread writes([&] {
    CountingSink sink;
    ps::write(ps::from(Handles{.most = 9, .count = 1'000'000}), sink, {.executor = executor, .stop = stop.get_token()});
  });
  std::this_thread::sleep_for(20ms);
  ps::Loader loader(ps::from(Handles{.most = 9}) | ps::batch(10), {.executor = executor});
  // Where the runner is slow to come, the caller makes whole epochs.
  CHECK(eventually([&] {
    CHECK(collect(loader).size() == 20);
    return loader.report().threads_seen == 1;
  }));
  stop.request_stop();
}
