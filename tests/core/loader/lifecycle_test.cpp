// SPDX-License-Identifier: Apache-2.0
// Beginnings and endings: at any moment, from any state, promptly, leaving nothing after.
#include <penstock/testing/statistics_resource.hpp>

#include "support/catch.hpp"

#include "core/help.hpp"

using namespace help;

namespace {

ps::Pipeline endless(Records source = {.count = 1000}) {
  return ps::from(std::move(source)) | ps::shuffle() | AddDraw{} | ps::batch(8);
}

double seconds_of(const std::function<void()>& f) {
  const auto begun = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}
// A stop takes as long as the samples in work.
const double prompt = 1.0 * (sanitized() ? 5 : 1);

}  // namespace

TEST_CASE("a loader that is never used runs nothing") {
  Records source{.count = 100};
  { const ps::Loader loader(endless(source), {.threads = 2}); }
  {
    ps::Loader loader(endless(source), {.threads = 2});
    (void)loader.epoch();  // it is begun, and nothing of it asked for
    (void)loader.report();
    (void)loader.state();
  }
  CHECK(source.shared->reads == 0);
}

TEST_CASE("after a break the next epoch is the next epoch") {
  const Watchdog dog(30s);
  const auto expected = collect(endless(), {.threads = 1}, 4);
  ps::Loader loader(endless(), {.threads = 2});
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    std::uint64_t n = 0;
    for (ps::Batch& b : loader.epoch()) {
      CHECK(loader.epoch_number() == epoch);
      CHECK(copy(b) == expected[epoch * 125 + n]);
      if (++n == 1 + epoch * 30) break;
    }
  }
}

TEST_CASE("an exception in the caller's loop leaves a loader that goes on") {
  const Watchdog dog(30s);
  ps::Loader loader(endless(), {.threads = 2});
  for (int i = 0; i < 5; ++i) {
    const auto step = [&] {
      for (ps::Batch& b : loader.epoch())
        if (b.number() == 3) throw std::runtime_error("the caller's own");
    };
    CHECK_THROWS_AS(step(), std::runtime_error);
  }
  CHECK(collect(loader).size() == 125);
  CHECK(loader.epoch_number() == 6);
}

TEST_CASE("next() ends each epoch once") {
  ps::Loader loader(ps::from(Records{.count = 10}) | ps::batch(4), {.threads = 1});
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int i = 0; i < 3; ++i) {
      const auto b = loader.next();
      REQUIRE(b);
      CHECK(b->epoch() == static_cast<std::uint64_t>(epoch));
      CHECK(b->number() == static_cast<std::uint64_t>(i));
    }
    CHECK_FALSE(loader.next());
  }
}

TEST_CASE("stop wakes a waiting next(), which returns nothing from then on", "[alone]") {
  const Watchdog dog(30s);
  std::atomic<bool> release{false};
  Records source{.count = 100};
  source.shared->before_read = [&](std::uint64_t) {
    while (!release) std::this_thread::sleep_for(1ms);
  };
  for (const bool token : {false, true}) {
    release = false;
    std::stop_source stop;
    ps::Loader loader(endless(source), {.threads = 2, .stop = stop.get_token()});
    std::jthread stopper([&] {
      std::this_thread::sleep_for(30ms);
      token ? void(stop.request_stop()) : loader.stop();
      // Only now: next() must not have needed the samples.
      std::this_thread::sleep_for(30ms);
      release = true;
    });
    // The caller makes samples itself while runners are not there yet; then it is stuck like any of them.
    const auto batch = loader.next();
    CHECK_FALSE(batch);
    CHECK_FALSE(loader.next());
    CHECK(collect(loader).empty());
  }
  std::stop_source before;
  before.request_stop();
  ps::Loader loader(endless(), {.threads = 1, .stop = before.get_token()});
  CHECK_FALSE(loader.next());
}

TEST_CASE("long work in a transform sees the stop", "[alone]") {
  const Watchdog dog(30s);
  std::atomic<int> begun{0}, seen{0};
  const ps::Pipeline p = ps::from(Records{.count = 10}) | ps::map([&](ps::Sample&, ps::Context& context) {
                           ++begun;
                           while (!context.stop_requested()) std::this_thread::sleep_for(1ms);
                           ++seen;
                         }) |
                         ps::batch(1);
  auto loader = std::make_unique<ps::Loader>(p, ps::LoaderOptions{.threads = 2});
  std::jthread consumer([&] { (void)loader->next(); });
  REQUIRE(eventually([&] { return begun > 0; }));
  loader->stop();
  consumer.join();
  CHECK(eventually([&] { return begun == seen; }));  // while the loader lives: a stop is told at once
  CHECK(seconds_of([&] { loader.reset(); }) < prompt);
  CHECK(begun == seen);
}

TEST_CASE("work on what a record's children share sees the stop", "[alone]") {
  const Watchdog dog(30s);
  std::atomic<int> begun{0}, seen{0};
  std::atomic<bool> given_up{false};
  const auto wait = [&](ps::Context& context) {
    ++begun;
    while (!context.stop_requested() && !given_up) std::this_thread::sleep_for(1ms);
    seen += context.stop_requested();
  };
  // In a map before the flat_map, in what counts the children, and in one of them.
  for (const int where : {0, 1, 2}) {
    CAPTURE(where);
    begun = seen = 0;
    struct Children {
      std::function<void(ps::Context&)> in_count, in_child;
      ps::Schema schema(const ps::Schema& in) const { return in; }
      std::string name() const { return "children"; }
      std::uint32_t count(const ps::Sample&, ps::Context& context) const {
        if (in_count) in_count(context);
        return 2;
      }
      void child(const ps::Sample&, std::uint32_t, ps::Sample&, ps::Context& context) const {
        if (in_child) in_child(context);
      }
    };
    const ps::Pipeline p = ps::from(Records{.count = 10}) | ps::map([&](ps::Sample&, ps::Context& context) {
                             if (where == 0) wait(context);
                           }) |
                           Children{where == 1 ? wait : std::function<void(ps::Context&)>(),
                                    where == 2 ? wait : std::function<void(ps::Context&)>()} |
                           ps::batch(1);
    ps::Loader loader(p, {.threads = 2});
    std::jthread consumer([&] { (void)loader.next(); });
    CHECK(eventually([&] { return begun > 0; }));
    loader.stop();
    CHECK(eventually([&] { return seen == begun; }));
    given_up = true;
    consumer.join();
    CHECK(seen == begun);
    given_up = false;
  }
}

TEST_CASE("a caller that stalls costs nothing: the source is idle, the memory flat", "[alone]") {
  const Watchdog dog(30s);
  Records source{.count = 100'000};
  ps::testing::StatisticsResource memory(ps::host_memory());
  ps::Loader loader(endless(source), {.threads = 2, .depth = 4, .host_memory = &memory});
  const auto first = loader.next();
  REQUIRE(first);
  // The ring's other three batches are made, and not a record more.
  CHECK(eventually([&] { return source.shared->reads == 4 * 8; }));
  const std::size_t used = memory.used();
  std::this_thread::sleep_for(100ms);
  CHECK(source.shared->reads == 4 * 8);
  CHECK(memory.used() == used);
  CHECK(memory.allocations() == 1);
}

TEST_CASE("a caller that holds the whole ring is told so, and can go on") {
  const Watchdog dog(30s);
  const auto expected = collect(endless(), {.threads = 1});
  ps::Loader loader(endless(), {.threads = 2, .depth = 3});
  std::vector<ps::Batch> held;
  std::vector<Got> got;
  while (got.size() < 100) {
    while (held.size() < 3) {
      auto b = loader.next();
      REQUIRE(b);
      got.push_back(copy(*b));
      held.push_back(std::move(*b));
    }
    const auto error = error_of([&] { (void)loader.next(); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::leases_exhausted);
    CHECK(error->cause().find("all 3") != std::string::npos);
    // Back in any order, one or all.
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(mix(got.size()) % 3));
    if (got.size() % 7 == 0) held.clear();
  }
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == expected[i]);
}

TEST_CASE("batches may outlive their loader, their executor and the pipeline") {
  const Watchdog dog(30s);
  std::vector<ps::Batch> held;
  std::vector<Got> before;
  ps::testing::StatisticsResource memory(ps::host_memory());
  {
    ps::Loader loader(endless(), {.threads = 2, .depth = 5, .host_memory = &memory});
    for (int i = 0; i < 4; ++i) {
      held.push_back(std::move(*loader.next()));
      before.push_back(copy(held.back()));
    }
  }
  for (std::size_t i = 0; i < held.size(); ++i) CHECK(copy(held[i]) == before[i]);
  held.pop_back();
  CHECK(copy(held[0]) == before[0]);
  held.clear();
  CHECK(memory.used() == 0);
}

TEST_CASE("an empty batch says so") {
  ps::Batch empty;
  CHECK(empty.empty());
  CHECK(empty.size() == 0);
  CHECK(empty.indices().empty());
  CHECK(empty.mask().empty());
  CHECK(error_of([&] { (void)empty["x"]; })->code() == ps::Errc::closed);
  ps::Loader loader(endless(), {.threads = 1});
  auto b = loader.next();
  ps::Batch moved = std::move(*b);
  CHECK(b->empty());
  CHECK(moved.size() == 8);
  const auto unknown = error_of([&] { (void)moved["z"]; });
  REQUIRE(unknown);
  CHECK(unknown->cause().find("{x: u32[4], y: i64[]}") != std::string::npos);
  CHECK(error_of([&] { (void)moved.view<float, 2>("x"); })->code() == ps::Errc::schema_mismatch);
  moved.release();
  CHECK(moved.empty());
  moved.release();
}

TEST_CASE("a batch moved out of the loop stays with the caller") {
  ps::Loader loader(endless(), {.threads = 1, .depth = 4});
  ps::Batch kept;
  Got first;
  for (ps::Batch& b : loader.epoch()) {
    if (b.number() == 0) {
      first = copy(b);
      kept = std::move(b);
    }
    if (kept.size() != 0 && loader.report().batches > 20) break;
  }
  CHECK(copy(kept) == first);
}

TEST_CASE("a loader may be moved in the middle of its work") {
  const Watchdog dog(30s);
  const auto expected = collect(endless(), {.threads = 1});
  ps::Loader a(endless(), {.threads = 2});
  CHECK(copy(*a.next()) == expected[0]);
  ps::Loader b(std::move(a));
  CHECK(copy(*b.next()) == expected[1]);
  ps::Loader c(endless(Records{.count = 50}), {.threads = 1});
  (void)c.next();
  c = std::move(b);
  CHECK(copy(*c.next()) == expected[2]);
  c = ps::Loader(endless(), {.threads = 1});
  CHECK(copy(*c.next()) == expected[0]);
}

TEST_CASE("the memory resource may go as soon as the loader has") {
  // Nothing of the loader is left to threads that end later.
  const Watchdog dog(120s);
  for (std::uint64_t i = 0; i < scaled(400, 50); ++i) {
    auto memory = std::make_unique<ps::testing::StatisticsResource>(ps::host_memory());
    {
      ps::Loader loader(endless(), {.threads = 3, .depth = 3, .host_memory = memory.get()});
      for (std::uint64_t n = 0; n < mix(i) % 4; ++n) (void)loader.next();
    }
    REQUIRE(memory->used() == 0);
    memory.reset();
  }
}

namespace {
struct Counted {
  std::shared_ptr<std::atomic<int>> alive;
  struct Reader {
    std::shared_ptr<std::atomic<int>> alive;
    explicit Reader(std::shared_ptr<std::atomic<int>> a) : alive(std::move(a)) { ++*alive; }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    ~Reader() { --*alive; }
    void read(std::uint64_t i, ps::SampleBuilder& out) { out.scalar<std::int64_t>(0, static_cast<std::int64_t>(i)); }
  };
  std::uint64_t size() const { return 1000; }
  ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
  std::unique_ptr<Reader> open_reader() const { return std::make_unique<Reader>(alive); }
};
}  // namespace

TEST_CASE("readers are closed when the loader is, though batches live on") {
  const auto alive = std::make_shared<std::atomic<int>>(0);
  ps::Batch kept;
  {
    ps::Loader loader(ps::from(Counted{alive}) | ps::batch(4), {.threads = 3});
    kept = std::move(*loader.next());
    CHECK(*alive >= 1);
    CHECK(*alive <= 4);  // one a runner, and the caller's
  }
  CHECK(*alive == 0);
}

TEST_CASE("closing waits for the sample in work, not for those taken together with it", "[alone]") {
  const Watchdog dog(60s);
  Records source{.count = 100'000};
  std::atomic<bool> slow{false};
  std::atomic<int> slow_reads{0};
  source.shared->before_read = [&](std::uint64_t) {
    if (!slow) return;
    ++slow_reads;
    std::this_thread::sleep_for(20ms);
  };
  auto loader = std::make_unique<ps::Loader>(ps::from(source) | ps::batch(64), ps::LoaderOptions{.threads = 1});
  for (int i = 0; i < 100; ++i) REQUIRE(loader->next());
  slow = true;
  for (int i = 0; i < 3; ++i) REQUIRE(loader->next());  // the ring was full: now it is being filled again
  CHECK(eventually([&] { return slow_reads >= 1; }));
  const int before = slow_reads;
  loader.reset();
  CHECK(slow_reads <= before + 1);
}

TEST_CASE("a stop after an error leaves the state where the error was") {
  Records source{.count = 40};
  source.shared->faults[25] = Fault::corrupt;
  ps::Loader loader(ps::from(source) | ps::batch(10), {.threads = 1});
  CHECK(loader.next());
  CHECK(loader.next());
  CHECK(error_of([&] { (void)loader.next(); }));
  loader.stop();
  CHECK_FALSE(loader.next());
  for (ps::Batch& batch : loader.epoch()) FAIL("batch " << batch.number());
  CHECK(loader.state().epoch == 0);
  CHECK(loader.state().position == 20);
}

TEST_CASE("a waiting caller is woken at once", "[alone]") {
  // The runner begins the next record when it has finished a batch, and the caller should have the batch then. The ring
  // is deep enough that the runner seldom leaves, which would wake the caller too.
  const Watchdog dog(30s);
  constexpr std::uint64_t records = 120;
  std::vector<std::atomic<std::int64_t>> begun(records);
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  Records source{.count = records};
  source.shared->before_read = [&](std::uint64_t i) {
    begun[i] = now();
    std::this_thread::sleep_for(8ms);
  };
  ps::Loader loader(ps::from(source) | ps::batch(1), {.threads = 1, .depth = 20});
  std::vector<std::int64_t> late_us;
  for (std::uint64_t i = 0; i < 60; ++i) {
    REQUIRE(loader.next());
    const std::int64_t next = begun[i + 1];
    late_us.push_back(next == 0 ? 0 : now() - next);
  }
  std::ranges::sort(late_us);
  CAPTURE(late_us[15], late_us[30], late_us[45]);
  CHECK(late_us[30] < (sanitized() ? 5'000 : 1'000));
}

TEST_CASE("runners are never more than the executor's threads") {
  const ps::Executor executor(1);
  ps::Loader loader(ps::from(Records{.count = 100}) | ps::batch(10), {.threads = 3, .executor = executor});
  CHECK(collect(loader).size() == 10);
  const ps::Report report = loader.report();
  CHECK(report.threads == 1);
  CHECK(std::ranges::any_of(report.notes, [](const std::string& n) {
    return n == "the executor has 1 thread for the 3 runners that were asked for";
  }));
}
