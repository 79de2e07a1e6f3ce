// SPDX-License-Identifier: Apache-2.0
// What is bad, or can't be, in pipelines whose samples find their places on the way.
#include "support/catch.hpp"

#include "core/reorder/reordered_help.hpp"

using namespace help;

TEST_CASE("incomplete batches that are not wanted give their buffers back") {
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

TEST_CASE("bad samples after the last batch are told with the end of the epoch") {
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

TEST_CASE("an order that fails comes after the survivors before it, however many positions are asked at once") {
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

TEST_CASE("what can't be reordered is refused when the pipeline is built, with what to do") {
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
}

TEST_CASE("a quota ends a run in which nothing survives") {
  const Watchdog dog(60s);
  struct Dead : Counting {
    bool next(ps::SampleBuilder&) { throw ps::Error(ps::Errc::io, "planted"); }
  };
  for (const double share : {1.0, 0.5}) {
    const ps::ErrorPolicy policy{.policy = ps::OnError::drop,
                                 .max_count = share < 1 ? ~std::uint64_t{0} : 1200,
                                 .max_share = share,
                                 .max_in_row = 5000};
    ps::Loader loader(ps::from(Dead{}) | ps::on_error(policy) | ps::batch(4), {.threads = 2});
    const auto error = error_of([&] { (void)loader.next(); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::quota_exceeded);
    CHECK(error->index() == (share < 1 ? 999u : 1200u));
  }
}

TEST_CASE("many bad samples in a row are counted, not kept") {
  const Watchdog dog(60s);
  struct Bad {
    std::uint64_t size() const { return 400'000; }
    ps::Schema schema() const { return {{"y", ps::DType::i64, {}}}; }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      if (i % 200'000 != 199'999) throw ps::Error(ps::Errc::corrupt, "planted");
      out.scalar<std::int64_t>("y", 1);
    }
  };
  const std::uint64_t before = resident_bytes();
  ps::Loader loader(ps::from(Bad{}) | ps::on_error({.policy = ps::OnError::drop}) | ps::batch(1), {.threads = 2});
  REQUIRE(loader.next());
  CHECK(loader.state().replaced == 199'999);
  REQUIRE(loader.next());
  CHECK(loader.state().replaced == 399'998);
  CHECK(loader.state().samples == 400'000);
  if (!sanitized()) CHECK(resident_bytes() < before + (16u << 20));
}

TEST_CASE("what an epoch's end tells does not depend on how far the runners were when it was left") {
  const Watchdog dog(60s);
  Records source{.count = 10};
  source.shared->faults = {{8, Fault::corrupt}, {9, Fault::corrupt}};
  for (const bool waits : {false, true}) {
    ps::Loader loader(ps::from(source) | ps::on_error({.policy = ps::OnError::drop, .max_count = 3}) | ps::batch(4),
                      {.threads = 2, .depth = 4});
    for (int epoch = 0; epoch < 4; ++epoch) {
      std::uint64_t n = 0;
      for (const ps::Batch& b : loader.epoch()) {
        CHECK(b.size() == 4);
        if (waits) std::this_thread::sleep_for(5ms);
        if (++n == 2) break;
      }
      CHECK(loader.state().replaced == 0);
      CHECK(loader.state().samples == 8u * static_cast<unsigned>(epoch + 1));
    }
  }
}

TEST_CASE("a stop leaves the state where the last batch was, whatever samples made of it") {
  const Watchdog dog(60s);
  const std::thread::id caller = std::this_thread::get_id();
  int rounds = 0;
  for (int round = 0; round < 50; ++round) {
    std::stop_source stop;
    std::atomic<bool> waiting{false}, taken{false}, made_by_caller{false};
    const ps::Pipeline p = ps::from(Records{.count = 5}) |
                           ps::map("y",
                                   [&](ps::View<std::int64_t, 0> y, ps::Context& context) {
                                     if (y() != 4) return;
                                     // While it waits for the first batch the caller helps where runners get no
                                     // thread, and must not wait for itself.
                                     if (!taken && std::this_thread::get_id() == caller) {
                                       made_by_caller = true;
                                       return;
                                     }
                                     waiting = true;
                                     // From in here the sample is through before the caller is awake.
                                     if (round % 2 == 0) {
                                       while (!taken) std::this_thread::yield();
                                       std::this_thread::sleep_for(200us);
                                       stop.request_stop();
                                     }
                                     while (!context.stop_requested()) std::this_thread::yield();
                                     throw ps::Error(ps::Errc::io, "given up");
                                   }) |
                           ps::on_error({.policy = ps::OnError::drop}) | ps::batch(4);
    ps::Loader loader(p, {.threads = 2, .stop = stop.get_token()});
    REQUIRE(loader.next());
    if (made_by_caller) {
      taken = true;  // the next epoch's may wait already
      continue;
    }
    ++rounds;
    const ps::State before = loader.state();
    std::jthread stopper([&] {
      while (!waiting) std::this_thread::yield();
      if (round % 2 == 1) stop.request_stop();
    });
    taken = true;
    CHECK_FALSE(loader.next());
    CHECK(loader.state() == before);
  }
  CHECK(rounds > 0);
}
