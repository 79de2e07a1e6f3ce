// Pipelines whose samples find their places only when those before them are decided: what the random pipelines, which
// know their results, can't tell.
#include "support/catch.hpp"

#include <numeric>
#include <set>

#include "help.hpp"

using namespace help;

namespace {

ps::Stage even() {
  return ps::filter("y", [](ps::View<const std::int64_t, 0> y) { return y() % 2 == 0; });
}

// Each record becomes y % 4 samples; "part" tells them apart.
struct Parts {
  std::function<void(std::uint64_t, std::uint32_t)> before_child = {};
  std::uint32_t most = 4;
  ps::Schema schema(const ps::Schema& in) const { return in.with({"part", ps::DType::u32, {}}); }
  std::string name() const { return "parts"; }
  std::uint32_t count(const ps::Sample& parent, ps::Context&) const {
    return static_cast<std::uint32_t>(parent.scalar<std::int64_t>("y")) % most;
  }
  void child(const ps::Sample&, std::uint32_t number, ps::Sample& out, ps::Context& context) const {
    if (before_child) before_child(context.index(), number);
    out.emplace<std::uint32_t, 0>("part", {})() = number;
  }
};

// Counts up; without a second instance it can't be read twice at once.
struct Counting {
  std::uint64_t count = 10;
  std::shared_ptr<Records::Shared> shared = std::make_shared<Records::Shared>();
  std::shared_ptr<std::atomic<int>> inside = std::make_shared<std::atomic<int>>(0);
  std::uint64_t at = 0;
  ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
  void reset(std::uint64_t) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (inside->fetch_add(1) != 0) throw ps::Error(ps::Errc::invalid_argument, "two at once");
    if (shared->before_read) shared->before_read(at);
    inside->fetch_sub(1);
    if (at == count) return false;
    ++shared->reads;
    out.scalar<std::int64_t>("y", static_cast<std::int64_t>(at++));
    return true;
  }
};
struct Seeking : Counting {
  void seek(std::uint64_t record) { at = record; }
};
struct OnlyOne : Counting {
  OnlyOne() = default;
  OnlyOne(OnlyOne&&) = default;
  OnlyOne& operator=(OnlyOne&&) = default;
};

std::vector<std::uint64_t> indices(const std::vector<Got>& batches) {
  std::vector<std::uint64_t> out;
  for (const Got& b : batches) out.insert(out.end(), b.indices.begin(), b.indices.end());
  return out;
}

}  // namespace

TEST_CASE("survivors come in order, in whole batches, at any number of threads") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 101}) | even() | ps::batch(7);
  for (const unsigned threads : {1u, 2u, 5u}) {
    const std::vector<Got> got = collect(p, {.threads = threads}, 2);
    REQUIRE(got.size() == 16);
    CHECK(got[6].indices.size() == 7);
    CHECK(got[7].indices.size() == 2);
    const std::vector<std::uint64_t> all = indices(got);
    for (std::size_t i = 0; i < 51; ++i) CHECK(all[i] == 2 * i);
    CHECK(got[8].epoch == 1);
    CHECK(got[8].number == 0);
  }
}

TEST_CASE("what is known only behind an epoch is not said before it") {
  const ps::Pipeline p = ps::from(Records{.count = 10}) | even() | ps::batch(2);
  CHECK(p.size() == 10);
  CHECK(error_of([&] { (void)p.steps_per_epoch(); })->cause().find("only behind it") != std::string::npos);
  ps::Loader loader(p, {.threads = 1});
  CHECK(error_of([&] { (void)loader.steps_per_epoch(); }));
  CHECK(p.plan().find("settled") != std::string::npos);
  CHECK(p.at(4)["y"].as<const std::int64_t, 0>()() == 4);
  CHECK(error_of([&] { (void)p.at(3); })->code() == ps::Errc::not_found);
}

TEST_CASE("epochs without a survivor end one by one, and are not read ahead for ever") {
  const Watchdog dog(60s);
  Records source{.count = 20};
  const ps::Pipeline p = ps::from(source) | ps::filter([](const ps::Sample&) { return false; }) | ps::batch(4);
  ps::Loader loader(p, {.threads = 2, .depth = 3});
  CHECK_FALSE(loader.next());
  CHECK(loader.epoch_number() == 1);
  std::this_thread::sleep_for(20ms);
  CHECK(source.shared->reads <= 20 * (1 + 3 + 1) + 8);  // a window of 8 cells
  for (int i = 0; i < 10; ++i) CHECK_FALSE(loader.next());
  CHECK(loader.epoch_number() == 11);
  CHECK(loader.state().step == 0);
}

TEST_CASE("one record's children are the work of several runners, and it is read once") {
  const Watchdog dog(60s);
  Records source{.count = 1};
  Meeting together(2);
  struct Many {
    Meeting* together;
    std::uint32_t count(const ps::Sample&, ps::Context&) const { return 40; }
    void child(const ps::Sample&, std::uint32_t, ps::Sample&, ps::Context&) const { together->attend(); }
  };
  const ps::Pipeline p = ps::from(source) | Many{&together} | ps::batch(10);
  ps::Loader loader(p, {.threads = 2, .epochs = 1});
  std::uint64_t rows = 0;
  for (const ps::Batch& b : loader.epoch()) rows += b.size();
  CHECK(rows == 40);
  CHECK(together.complete());
  CHECK(source.shared->reads == 1);
}

TEST_CASE("a state taken in the middle of a record's children goes on there") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 23}) | ps::shuffle({.seed = 3}) | AddDraw{} | Parts{} | AddDraw{} |
                         ps::batch(2, {.tail = ps::Tail::pad});
  const std::vector<Got> all = collect(p, {.threads = 3}, 2);
  bool in_the_middle = false;
  ps::Loader loader(p, {.threads = 2});
  std::vector<ps::State> states{loader.state()};
  for (std::size_t i = 0; i < all.size();) {
    auto b = loader.next();
    if (!b) continue;
    REQUIRE(copy(*b) == all[i++]);
    states.push_back(loader.state());
    in_the_middle = in_the_middle || states.back().child != 0;
  }
  CHECK(in_the_middle);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ps::Loader rest(p, {.threads = 1 + static_cast<unsigned>(i % 4)});
    rest.resume(states[i]);
    for (std::size_t k = i; k < std::min(i + 5, all.size());) {
      auto b = rest.next();
      if (b) REQUIRE(copy(*b) == all[k++]);
    }
  }
  const ps::State& state = *std::ranges::find_if(states, [](const ps::State& s) { return s.child != 0; });
  CHECK(p.at(state.position, 0, state.child)["part"].as<const std::uint32_t, 0>()() == state.child);
  CHECK(error_of([&] { (void)p.at(state.position, 0, 4); })->code() == ps::Errc::not_found);
}

TEST_CASE("a stream is read by one runner at a time, and its records are worked on by all") {
  const Watchdog dog(60s);
  Counting stream{.count = 500};
  Meeting together(2);
  std::atomic<int> waits{4};
  const ps::Pipeline p = ps::from(stream) |
                         ps::map("y",
                                 [&](ps::View<std::int64_t, 0>) {
                                   if (waits-- > 0) together.attend();
                                 }) |
                         ps::batch(16);
  CHECK(p.size() == ps::unknown_size);
  ps::Loader loader(p, {.threads = 3, .epochs = 3});
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::uint64_t> seen;
    for (const ps::Batch& b : loader.epoch()) seen.insert(seen.end(), b.indices().begin(), b.indices().end());
    std::vector<std::uint64_t> expected(500);
    std::iota(expected.begin(), expected.end(), 0);
    CHECK(seen == expected);
  }
  CHECK(stream.shared->reads == 1500);
}

TEST_CASE("a stream that can seek goes on where it was, one that can't is read again, and the plan says so") {
  const Watchdog dog(60s);
  Counting replayed{.count = 100};
  Seeking sought;
  sought.count = 100;
  const ps::Pipeline a = ps::from(replayed) | ps::batch(8), b = ps::from(sought) | ps::batch(8);
  CHECK(a.plan().find("reads all records before it once more") != std::string::npos);
  CHECK(b.plan().find("seeks") != std::string::npos);
  for (const ps::Pipeline& p : {a, b}) {
    ps::State state;
    {
      ps::Loader first(p, {.threads = 1, .epochs = 1});
      for (int i = 0; i < 9; ++i) REQUIRE(first.next());
      state = first.state();
    }
    CHECK(state.position == 72);
    replayed.shared->reads = sought.shared->reads = 0;
    ps::Loader rest(p, {.threads = 2, .epochs = 1});
    rest.resume(state);
    std::vector<std::uint64_t> seen;
    for (const ps::Batch& batch : rest.epoch()) seen.insert(seen.end(), batch.indices().begin(), batch.indices().end());
    REQUIRE(seen.size() == 28);
    CHECK(seen.front() == 72);
    CHECK(replayed.shared->reads + sought.shared->reads == (p.plan().find("seeks") != std::string::npos ? 28 : 100));
  }
}

TEST_CASE("a stream's shuffle keeps to its blocks, has every record once, and other epochs other orders") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Counting{.count = 103}) | ps::shuffle({.seed = 5, .window = 10}) | ps::batch(6);
  const std::vector<Got> got = collect(p, {.threads = 3}, 2);
  const std::vector<std::uint64_t> all = indices(got);
  REQUIRE(all.size() == 206);
  for (std::size_t epoch = 0; epoch < 2; ++epoch)
    for (std::size_t block = 0; block < 11; ++block) {
      const std::size_t n = block == 10 ? 3 : 10;
      std::set<std::uint64_t> records;
      for (std::size_t i = 0; i < n; ++i) records.insert(all[epoch * 103 + block * 10 + i]);
      CHECK(records.size() == n);
      CHECK(*records.begin() == block * 10);
      CHECK(*records.rbegin() == block * 10 + n - 1);
    }
  CHECK(std::vector(all.begin(), all.begin() + 103) != std::vector(all.begin() + 103, all.end()));
}

TEST_CASE("a shuffled stream goes on from the middle of a block") {
  const Watchdog dog(60s);
  for (const bool seeks : {false, true}) {
    Seeking seeking;
    seeking.count = 53;
    const ps::Pipeline p = (seeks ? ps::from(seeking) : ps::from(Counting{.count = 53})) |
                           ps::shuffle({.seed = 9, .window = 10}) | ps::batch(3);
    const std::vector<Got> all = collect(p, {.threads = 2}, 2);
    ps::Loader loader(p, {.threads = 2});
    for (std::size_t i = 0; i < all.size(); ++i) {
      ps::Loader rest(p, {.threads = 3});
      rest.resume(loader.state());
      for (std::size_t k = i; k < all.size();) {
        auto b = rest.next();
        if (b) REQUIRE(copy(*b) == all[k++]);
      }
      while (!loader.next()) {
      }
    }
  }
}

TEST_CASE("incomplete batches that are not wanted give their slots back") {
  const Watchdog dog(60s);
  Records source{.count = 21};
  source.shared->faults = {{20, Fault::corrupt}};
  const ps::Pipeline p =
      ps::from(source) | ps::on_error({.policy = ps::OnError::drop}) | even() | ps::batch(4, {.tail = ps::Tail::drop});
  ps::Loader loader(p, {.threads = 2, .depth = 2});
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    std::uint64_t batches = 0;
    for (const ps::Batch& b : loader.epoch()) {
      CHECK(b.size() == 4);
      ++batches;
    }
    CHECK(batches == 2);
  }
  CHECK(loader.state().replaced == 50);
}

TEST_CASE("a stream that can't be copied is lent to one loader at a time") {
  OnlyOne stream;
  const ps::Pipeline p = ps::from(std::move(stream)) | ps::batch(4);
  auto first = std::make_unique<ps::Loader>(p, ps::LoaderOptions{.threads = 1});
  const auto error = error_of([&] { ps::Loader second(p, {.threads = 1}); });
  REQUIRE(error);
  CHECK(error->cause().find("another loader") != std::string::npos);
  first.reset();
  ps::Loader second(p, {.threads = 1});
  CHECK(second.next());
}

TEST_CASE("a caller that takes nothing stops all work once the window and the ring are full") {
  const Watchdog dog(60s);
  Records source{.count = 100'000};
  const ps::Pipeline p = ps::from(source) | even() | ps::batch(10);
  ps::Loader loader(p, {.threads = 2, .depth = 3});
  auto held = loader.next();
  REQUIRE(held);
  const auto settles = [&] {
    const std::uint64_t reads = source.shared->reads;
    std::this_thread::sleep_for(20ms);
    return source.shared->reads == reads;
  };
  CHECK(eventually(settles));
  // Three batches of survivors, twice as many records, and a window of 10 cells.
  CHECK(source.shared->reads <= 2 * 30 + 10 + 2);
  held.reset();
  CHECK(loader.next());
}

TEST_CASE("a caller that holds the whole ring of a settled pipeline is told so, and can go on") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 100}) | even() | ps::batch(5);
  ps::Loader loader(p, {.threads = 2, .depth = 2});
  std::vector<ps::Batch> held;
  for (int i = 0; i < 2; ++i) held.push_back(*loader.next());
  CHECK(error_of([&] { (void)loader.next(); })->code() == ps::Errc::leases_exhausted);
  held.erase(held.begin());
  const auto third = loader.next();
  REQUIRE(third);
  CHECK(third->indices()[0] == 20);
}

TEST_CASE("after a break the next epoch is the next one, also where its end was read ahead") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 40}) | ps::shuffle({.seed = 1}) | even() | ps::batch(4);
  const std::vector<Got> all = collect(p, {.threads = 2}, 4);
  for (const bool wait : {false, true}) {
    ps::Loader loader(p, {.threads = 2, .depth = 8});
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      std::uint64_t n = 0;
      for (const ps::Batch& b : loader.epoch()) {
        CHECK(copy(b) == all[epoch * 5 + n]);
        if (wait) std::this_thread::sleep_for(2ms);
        if (++n == (epoch % 2 == 0 ? 5u : 3u)) break;
      }
      CHECK(n == (epoch % 2 == 0 ? 5u : 3u));
    }
  }
}

TEST_CASE("dropped samples are counted in order, and a quota ends the run at the same one everywhere") {
  const Watchdog dog(60s);
  Records source{.count = 200};
  for (std::uint64_t i = 3; i < 200; i += 10) source.shared->faults[i] = Fault::corrupt;
  const auto pipeline = [&](std::uint64_t most) {
    return ps::from(source) | ps::on_error({.policy = ps::OnError::drop, .max_count = most}) | ps::batch(9);
  };
  for (const unsigned threads : {1u, 4u}) {
    ps::Loader loader(pipeline(20), {.threads = threads});
    std::uint64_t rows = 0;
    for (const ps::Batch& b : loader.epoch()) rows += b.size();
    CHECK(rows == 180);
    CHECK(loader.state().replaced == 20);
    CHECK(loader.state().samples == 200);
    CHECK(loader.report().errors == 20);

    ps::Loader strict(pipeline(7), {.threads = threads});
    std::uint64_t batches = 0;
    const auto error = error_of([&] {
      for (const ps::Batch& b : strict.epoch()) batches += b.size() == 9;
    });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::quota_exceeded);
    CHECK(error->index() == 73);
    CHECK(batches == 7);
  }
}

TEST_CASE("bad samples behind the last batch are told with the end of the epoch") {
  const Watchdog dog(60s);
  Records source{.count = 10};
  source.shared->faults = {{8, Fault::corrupt}, {9, Fault::io}};
  const auto pipeline = [&](std::uint64_t most) {
    return ps::from(source) | ps::on_error({.policy = ps::OnError::drop, .max_count = most}) | ps::batch(4);
  };
  ps::Loader loader(pipeline(5), {.threads = 2});
  CHECK(loader.next());
  CHECK(loader.next());
  CHECK(loader.state().replaced == 0);
  CHECK_FALSE(loader.next());
  CHECK(loader.state().replaced == 2);
  ps::Loader strict(pipeline(1), {.threads = 2});
  CHECK(strict.next());
  CHECK(strict.next());
  CHECK(error_of([&] { (void)strict.next(); })->code() == ps::Errc::quota_exceeded);
  CHECK(strict.epoch_number() == 1);
}

TEST_CASE("an order that fails comes behind the survivors before it, however many positions are asked at once") {
  const Watchdog dog(60s);
  struct Fails {
    std::uint64_t at;
    std::uint64_t size(std::uint64_t n) const { return n; }
    void fill(std::uint64_t, std::uint64_t, std::span<ps::OrderPoint> points) const {
      for (const ps::OrderPoint& p : points)
        if (p.position == at) throw std::runtime_error("planted");
    }
    std::string name() const { return "fails"; }
    std::string describe() const { return ""; }
  };
  for (const std::uint64_t at : {0u, 1u, 37u, 63u, 64u})
    for (const unsigned threads : {1u, 4u}) {
      ps::Loader loader(ps::from(Records{.count = 100}) | Fails{at} | even() | ps::batch(4), {.threads = threads});
      std::uint64_t batches = 0;
      const auto error = error_of([&] {
        while (loader.next()) ++batches;
      });
      REQUIRE(error);
      CHECK(error->stage() == "fails");
      CHECK(batches == (at + 1) / 2 / 4);
    }
}

TEST_CASE("a source hears what a settled pipeline will read, each record once") {
  const Watchdog dog(60s);
  AdvisedRecords source{{.count = 90}};
  ps::Loader loader(ps::from(source) | ps::shuffle() | even() | ps::batch(8), {.threads = 2, .epochs = 2});
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const ps::Batch& b : loader.epoch()) CHECK(b.size() <= 8);
  CHECK(eventually([&] { return source.shared->advised == 180; }));
}

TEST_CASE("what can't be settled is refused when the pipeline is built, with what to do") {
  const auto records = ps::from(Records{.count = 10});
  const auto refused = [](const std::function<void()>& f, const char* word) {
    const auto error = error_of(f);
    REQUIRE(error);
    CAPTURE(error->what());
    CHECK(std::string(error->what()).find(word) != std::string::npos);
  };
  refused([&] { (void)(records | even() | ps::shuffle()); }, "stand before filter");
  refused([&] { (void)(records | Parts{} | ps::take(3)); }, "stand before filter");
  refused([&] { (void)(records | Parts{} | Parts{}); }, "one flat_map");
  refused([&] { (void)(records | ps::filter("x", [](ps::View<const float, 1>) { return true; })); },
          "View<const f32, 1>");
  refused([&] { (void)(records | ps::filter("z", [](ps::View<const float, 1>) { return true; })); }, "no field \"z\"");
  refused([&] { (void)(records | ps::shuffle({.window = 10})); }, "for streams");
  refused([&] { (void)(ps::from(Counting{}) | ps::shuffle({.blocks = true, .block_size = 4})); }, "no blocks");
  const auto stream = ps::from(Counting{});
  refused([&] { (void)(stream | ps::shuffle()); }, ".window");
  refused([&] { (void)(stream | ps::take(3)); }, "own order");
  refused([&] { (void)(stream | ps::split({.by = ps::SplitOptions::By::key})); }, "stream");
  refused([&] { (void)(stream | ps::on_error({.policy = ps::OnError::replace})); }, "mask or drop");
  refused([&] { (void)stream.at(0); }, "own order");
  CountingSink sink;
  refused([&] { (void)ps::write(stream, sink); }, "random access");
}

TEST_CASE("a state of a settled pipeline fits it") {
  const ps::Pipeline p = ps::from(Records{.count = 10}) | even() | ps::batch(2);
  ps::Loader loader(p, {.threads = 1});
  REQUIRE(loader.next());
  const ps::State state = loader.state();
  CHECK(state.position == 3);
  CHECK(state.number == 1);
  ps::Loader other(ps::from(Records{.count = 10}) | ps::batch(2), {.threads = 1});
  CHECK(error_of([&] { other.resume(state); })->code() == ps::Errc::state_mismatch);
}

TEST_CASE("write stores what filters leave and drops what is bad") {
  const Watchdog dog(60s);
  Records source{.count = 100};
  source.shared->faults = {{10, Fault::corrupt}, {11, Fault::corrupt}};
  CountingSink sink;
  const ps::WriteProgress done =
      ps::write(ps::from(source) | ps::on_error({.policy = ps::OnError::drop}) | even(), sink, {.threads = 3});
  CHECK(sink.stored == 49);
  CHECK(done.done == 100);
  CHECK(done.filtered == 49);
  CHECK(done.dropped == 2);
}

TEST_CASE("a byte limit lowers the window, then the runners, and says so") {
  Records source{.count = 100, .width = 25'000};
  const ps::Pipeline p = ps::from(source) | even() | ps::batch(64);
  const std::size_t row = 25'000 * 4;
  ps::Loader loader(p, {.threads = 2, .memory = 2 * 64 * row + 20 * row + 3 * (1u << 20)});
  std::uint64_t rows = 0;
  for (const ps::Batch& b : loader.epoch()) rows += b.size();
  CHECK(rows == 50);
  const ps::Report report = loader.report();
  bool window = false;
  for (const ps::MemoryRow& m : report.memory)
    if (m.name.find("wait for those before them") != std::string::npos) window = m.count < 64 && m.count >= 8;
  CHECK(window);
  CHECK(report.text().find("wait for those before them instead of 64") != std::string::npos);
}
