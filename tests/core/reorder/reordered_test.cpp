// SPDX-License-Identifier: Apache-2.0
// Pipelines whose samples find their places only when those before them are decided: what the random pipelines, which
// know their results, can't tell.
#include "support/catch.hpp"

#include "core/reorder/reordered_help.hpp"

using namespace help;

TEST_CASE("survivors come in order, in whole batches, at any number of threads") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 101}) | even() | ps::batch(7);
  for (const unsigned threads : {1u, 2u, 5u}) {
    const std::vector<Got> got = collect(p, {.threads = threads}, 2);
    REQUIRE(got.size() == 16);
    CHECK(got[6].indices.size() == 7);
    CHECK(got[7].indices.size() == 2);
    const std::vector<std::uint64_t> all = indices_of(got);
    for (std::size_t i = 0; i < 51; ++i) CHECK(all[i] == 2 * i);
    CHECK(got[8].epoch == 1);
    CHECK(got[8].number == 0);
  }
}

TEST_CASE("what is known only after an epoch is not said before it") {
  const ps::Pipeline p = ps::from(Records{.count = 10}) | even() | ps::batch(2);
  CHECK(p.size() == 10);
  CHECK(error_of([&] { (void)p.steps_per_epoch(); })->cause().find("only after it") != std::string::npos);
  ps::Loader loader(p, {.threads = 1});
  CHECK(error_of([&] { (void)loader.steps_per_epoch(); }));
  CHECK(p.plan().find("reordered") != std::string::npos);
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
  CHECK(source.shared->reads <= 20 * (1 + 3 + 1) + 8);  // 8 entries
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
  // Three batches of survivors, twice as many records, and 10 entries.
  CHECK(source.shared->reads <= 2 * 30 + 10 + 2);
  held.reset();
  CHECK(loader.next());
}

TEST_CASE("a caller that holds the whole ring of a reordered pipeline is told so, and can go on") {
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

TEST_CASE("a source hears what a reordered pipeline will read, each record once") {
  const Watchdog dog(60s);
  AdvisedRecords source{{.count = 90}};
  ps::Loader loader(ps::from(source) | ps::shuffle() | even() | ps::batch(8), {.threads = 2, .epochs = 2});
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const ps::Batch& b : loader.epoch()) CHECK(b.size() <= 8);
  CHECK(eventually([&] { return source.shared->advised == 180; }));
}

TEST_CASE("a state of a reordered pipeline fits it") {
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
  ps::Loader loader(p, {.threads = 2, .max_memory_bytes = 2 * 64 * row + 20 * row + 3 * (1u << 20)});
  std::uint64_t rows = 0;
  for (const ps::Batch& b : loader.epoch()) rows += b.size();
  CHECK(rows == 50);
  const ps::Report report = loader.report();
  bool window = false;
  for (const ps::MemoryPurpose& m : report.memory)
    if (m.name.find("wait for those before them") != std::string::npos) window = m.count < 64 && m.count >= 8;
  CHECK(window);
  CHECK(report.text().find("wait for those before them instead of 64") != std::string::npos);
}
