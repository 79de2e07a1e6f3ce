// SPDX-License-Identifier: Apache-2.0
// Epochs of `steps_per_epoch` batches, on one rank and on several: where only the samples tell how many there are
// (filter, flat_map), and where that is known.
#include "support/catch.hpp"

#include <algorithm>
#include <numeric>

#include "core/help.hpp"
#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {

ps::Stage steps(std::uint64_t n, int rank = 0, int world = 1) {
  return ps::for_rank({.rank = rank, .world = world, .steps_per_epoch = n});
}

// Even records, pass after pass, each in the order of its epoch.
std::vector<std::uint64_t> passes(const ps::Pipeline& order, std::uint64_t count) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t pass = 0; pass < count; ++pass) {
    std::vector<std::uint64_t> all(order.size());
    order.fill(pass, 0, all);
    std::erase_if(all, [](std::uint64_t i) { return i % 2 != 0; });
    out.insert(out.end(), all.begin(), all.end());
  }
  return out;
}

}  // namespace

TEST_CASE("an epoch is so many batches, and the data go on where it ended") {
  const Watchdog dog(60s);
  const ps::Pipeline order = ps::from(Records{.count = 25}) | ps::shuffle({.seed = 4});
  const ps::Pipeline p = order | even() | ps::batch(4) | steps(5);
  CHECK(p.steps_per_epoch() == 5);
  ps::Loader loader(p, {.threads = 3, .epochs = 4});
  CHECK(loader.steps_per_epoch() == 5);
  std::vector<std::uint64_t> got;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    std::uint64_t number = 0;
    for (const ps::Batch& batch : loader.epoch()) {
      CHECK(batch.epoch() == epoch);
      CHECK(batch.number() == number++);
      CHECK(batch.size() == 4);
      CHECK(batch.global_size() == 4);
      got.insert(got.end(), batch.indices().begin(), batch.indices().end());
    }
    CHECK(number == 5);
    CHECK(loader.epoch_number() == epoch + 1);
  }
  std::vector<std::uint64_t> expected = passes(order, 7);
  REQUIRE(expected.size() > 80);
  expected.resize(80);
  CHECK(got == expected);
  CHECK_FALSE(loader.next());
}

TEST_CASE("ranks share every pass, each record once, in as many steps each") {
  const Watchdog dog(60s);
  // 25 positions over 3 ranks: their parts differ from pass to pass.
  for (const int world : {2, 3, 5}) {
    const ps::Pipeline p = ps::from(Records{.count = 25}) | ps::shuffle({.seed = 9}) | Parts{.most = 3} | ps::batch(7);
    std::map<std::pair<std::uint64_t, std::uint32_t>, int> seen;
    std::vector<std::uint64_t> least;
    for (int rank = 0; rank < world; ++rank) {
      ps::Loader loader(p | steps(40, rank, world), {.threads = 1 + static_cast<unsigned>(rank) % 3, .epochs = 1});
      std::uint64_t batches = 0;
      ps::State state;
      for (const ps::Batch& batch : loader.epoch()) {
        const auto rows = static_cast<std::uint64_t>(7 / world + (rank < 7 % world ? 1 : 0));
        REQUIRE(batch.size() == rows);
        CHECK(batch.global_size() == 7);
        ++batches;
        const auto part = batch.view<std::uint32_t, 1>("part");
        for (std::size_t r = 0; r < batch.size(); ++r) ++seen[{batch.indices()[r], part(static_cast<std::int64_t>(r))}];
        state = loader.state();
      }
      CHECK(batches == 40);
      least.push_back(state.position / 25);
    }
    // Every sample of a pass that all ranks are through came in that pass, from one of them.
    const auto through = static_cast<int>(*std::ranges::min_element(least));
    const auto begun = static_cast<int>(*std::ranges::max_element(least)) + 1;
    CHECK(through > 5);
    for (std::uint64_t i = 0; i < 25; ++i)
      for (std::uint32_t child = 0; child < i % 3; ++child) {
        CHECK(seen[{i, child}] >= through);
        CHECK(seen[{i, child}] <= begun);
      }
    CHECK(seen.size() == 8 * 1 + 8 * 2);
  }
}

TEST_CASE("after a loop that is left early the next goes on after its last batch") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 23}) | AddDraw{} | Parts{} | ps::batch(3) | steps(6);
  ps::Loader whole(p, {.threads = 2}), left(p, {.threads = 2, .depth = 3});
  std::vector<Got> expected;
  for (int epoch = 0; epoch < 8; ++epoch)
    for (const Got& got : collect(whole)) expected.push_back(got);
  std::vector<Got> got;
  for (std::uint64_t epoch = 0; got.size() < 30; ++epoch) {
    std::uint64_t number = 0;
    for (const ps::Batch& batch : left.epoch()) {
      CHECK(batch.epoch() == epoch);
      CHECK(batch.number() == number);
      got.push_back(copy(batch));
      if (++number == 1 + epoch % 6) break;
    }
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    got[i].epoch = expected[i].epoch;
    got[i].number = expected[i].number;
    REQUIRE(got[i] == expected[i]);
  }
}

TEST_CASE("each rank goes on from a state of its own, as the same rank of as many") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 40}) | ps::shuffle() | AddDraw{} | even() | ps::batch(5);
  std::vector<ps::State> states;
  for (int rank = 0; rank < 2; ++rank) {
    const std::vector<Got> all = collect(p | steps(4, rank, 2), {.threads = 2}, 5);
    REQUIRE(all.size() == 20);
    ps::Loader loader(p | steps(4, rank, 2), {.threads = 1});
    for (std::size_t i = 0; i < 20;) {
      const ps::State state = loader.state();
      ps::Loader rest(p | steps(4, rank, 2), {.threads = 3, .epochs = 5});
      rest.resume(state);
      std::size_t k = i;
      while (rest.epoch_number() < 5)
        if (const auto batch = rest.next()) REQUIRE(copy(*batch) == all[k++]);
      REQUIRE(k == 20);
      if (loader.next()) ++i;
      if (i == 7) states.push_back(loader.state());
    }
  }
  const auto refuses = [&](const ps::Stage& rank, const ps::State& state) {
    ps::Loader loader(p | rank, {.threads = 1});
    const auto error = error_of([&] { loader.resume(state); });
    return error && error->code() == ps::Errc::state_mismatch;
  };
  CHECK_FALSE(refuses(steps(4, 0, 2), states[0]));
  CHECK(refuses(steps(4, 1, 2), states[0]));
  CHECK(refuses(steps(4, 0, 3), states[0]));
  CHECK(refuses(steps(5, 0, 2), states[0]));
  CHECK(refuses(ps::for_rank({}), states[0]));
}

TEST_CASE("what fails ends the epoch of so many steps, and the next begins after it") {
  const Watchdog dog(60s);
  Records source{.count = 20};
  source.shared->faults[6] = Fault::corrupt;
  const ps::Pipeline p = ps::from(source) | even() | ps::batch(2) | steps(100);
  ps::Loader loader(p, {.threads = 2});
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<std::uint64_t> got;
    const auto error = error_of([&] {
      for (const ps::Batch& batch : loader.epoch()) {
        CHECK(batch.epoch() == epoch);
        got.insert(got.end(), batch.indices().begin(), batch.indices().end());
      }
    });
    REQUIRE(error);
    CHECK(error->index() == 6u);
    // From the record after 6, through the end of the pass, to what is whole before record 6.
    if (epoch == 0)
      CHECK(got == std::vector<std::uint64_t>{0, 2});
    else
      CHECK(got == std::vector<std::uint64_t>{8, 10, 12, 14, 16, 18, 0, 2});
  }
}

TEST_CASE("a whole pass of which nothing is left is an error, and not for ever") {
  const Watchdog dog(60s);
  Records source{.count = 50};
  const ps::Pipeline none = ps::from(source) | ps::filter([](const ps::Sample&) { return false; }) | ps::batch(4);
  ps::Loader loader(none | steps(3), {.threads = 2, .depth = 2});
  for (int i = 0; i < 2; ++i) {
    const auto error = error_of([&] { (void)loader.next(); });
    REQUIRE(error);
    CHECK(error->stage() == "for_rank");
    CHECK(error->cause().find("nothing was left of eight times as many records") != std::string::npos);
  }
  // The other rank has all there is.
  ps::Loader odd(ps::from(source) | even() | ps::batch(4) | steps(3, 1, 2), {.threads = 2});
  CHECK(error_of([&] { (void)odd.next(); }));
  ps::Loader other(ps::from(source) | even() | ps::batch(4) | steps(3, 0, 2), {.threads = 2});
  CHECK(collect(other, 4).size() == 12);
}

TEST_CASE("where few samples of a shuffled pass survive, no pass is taken for an empty one") {
  const Watchdog dog(60s);
  // One that comes first in a pass and last in the next is nearly two passes away; on several ranks, others get it.
  for (const std::uint64_t kept : {1u, 2u}) {
    const auto some = ps::filter([kept](const ps::Sample& sample) {
      return sample.scalar<std::int64_t>("y") < static_cast<std::int64_t>(kept);
    });
    const ps::Pipeline p = ps::from(Records{.count = 100}) | ps::shuffle() | some | ps::batch(3);
    for (int rank = 0; rank < 3; ++rank) {
      ps::Loader alone(p | steps(100), {.threads = 2, .epochs = 1});
      CHECK(collect(alone, 200).size() == 100);
      ps::Loader loader(p | steps(100, rank, 3), {.threads = 2, .epochs = 1});
      CHECK(collect(loader, 200).size() == 100);
    }
  }
}

TEST_CASE("storage that goes away in the middle of a batch, or of a window, is an error") {
  const Watchdog dog(60s);
  for (const bool buckets : {false, true}) {
    Records source{.count = 100};
    source.shared->before_read = [reads = std::make_shared<std::atomic<int>>(0)](std::uint64_t) {
      if (++*reads > 251) throw ps::Error(ps::Errc::corrupt, "gone");
    };
    ps::Pipeline p = ps::from(source) | ps::on_error({.policy = ps::OnError::drop});
    if (buckets) p = p | ps::bucket("y", {.window = 40});
    ps::Loader loader(p | ps::batch(8) | steps(1000), {.threads = 2});
    std::uint64_t batches = 0;
    const auto error = error_of([&] {
      while (loader.next()) ++batches;
    });
    REQUIRE(error);
    CHECK(error->stage() == "for_rank");
    CHECK(batches == (buckets ? 30 : 31));
    CHECK(source.shared->reads < 251 + 800 + 100);
  }
}

TEST_CASE("a rank whose share of a pass has nothing goes on to the next pass") {
  const Watchdog dog(60s);
  // One survivor a pass: a rank in three gets it.
  const ps::Pipeline p = ps::from(Records{.count = 10}) |
                         ps::filter("y", [](ps::View<const std::int64_t, 0> y) { return y() == 6; }) | ps::batch(3);
  for (int rank = 0; rank < 3; ++rank) {
    ps::Loader loader(p | steps(4, rank, 3), {.threads = 2, .epochs = 2});
    CHECK(collect(loader, 2).size() == 8);
  }
}

TEST_CASE("after the last epoch nothing is made but what was begun") {
  const Watchdog dog(60s);
  Records source{.count = 1000};
  ps::Loader loader(ps::from(source) | even() | ps::batch(2) | steps(1), {.threads = 2, .depth = 4, .epochs = 3});
  CHECK(collect(loader, 3).size() == 3);
  std::this_thread::sleep_for(30ms);
  CHECK(source.shared->reads >= 12);
  CHECK(source.shared->reads <= 12 + 8 + 2);  // 8 entries

  Records few{.count = 100'000};
  ps::Loader first(ps::from(few) | ps::filter("y", [](ps::View<const std::int64_t, 0> y) { return y() < 4; }) |
                       ps::batch(4) | steps(1),
                   {.threads = 2, .epochs = 1});
  CHECK(collect(first).size() == 1);
  std::this_thread::sleep_for(30ms);
  CHECK(few.shared->reads <= 4 + 8 + 2);
}

TEST_CASE("buckets look at as many batches on each rank as on one") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 64}) | ps::shuffle() |
                         ps::map("y", [](ps::View<std::int64_t, 0> y) { y() %= 16; }) | even() |
                         ps::bucket("y", {.window = 20}) | ps::batch(5);
  for (int rank = 0; rank < 2; ++rank) {
    const std::int64_t rows = rank == 0 ? 3 : 2;
    ps::Loader loader(p | steps(8, rank, 2), {.threads = 2, .epochs = 1});
    std::uint64_t spread = 0, batches = 0;
    for (const ps::Batch& batch : loader.epoch()) {
      const auto y = batch.view<std::int64_t, 1>("y");
      REQUIRE(y.size() == static_cast<std::size_t>(rows));
      for (std::int64_t r = 1; r < rows; ++r) CHECK(y(r) >= y(r - 1));
      spread += static_cast<std::uint64_t>(y(rows - 1) - y(0));
      ++batches;
    }
    CHECK(batches == 8);
    CHECK(spread <= batches * (rank == 0 ? 6 : 4));
  }
}

TEST_CASE("ranks share the window of buckets as they share the rows of a batch") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 200}) |
                         ps::filter("y", [](ps::View<const std::int64_t, 0> y) { return y() % 3 != 0; }) |
                         ps::map("y", [](ps::View<std::int64_t, 0> y) { y() = y() * 37 % 101; }) |
                         ps::bucket("y", {.window = 20}) | ps::batch(5);
  for (const auto& [rank, share] : {std::pair(0, 12), {1, 8}}) {
    CAPTURE(rank);
    std::vector<std::uint64_t> survivors;
    for (auto i = static_cast<std::uint64_t>(rank); i < 200; i += 2)
      if (i % 3 != 0) survivors.push_back(i);
    survivors.resize(2 * static_cast<std::size_t>(share));
    std::vector<std::uint64_t> got = indices_of(collect(p | steps(8, rank, 2), {.threads = 2, .epochs = 1}));
    REQUIRE(got.size() == survivors.size());
    CHECK(got != survivors);
    std::sort(got.begin(), got.begin() + share);  // of 4 batches
    std::sort(got.begin() + share, got.end());
    CHECK(got == survivors);
  }
}

TEST_CASE("after a failure in a window of buckets the next one begins after it, and what was before it comes again") {
  const Watchdog dog(60s);
  Records source{.count = 40};
  source.shared->faults[9] = Fault::corrupt;
  ps::Loader loader(ps::from(source) | ps::bucket("y", {.window = 12}) | ps::batch(4) | steps(100), {.threads = 2});
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    CAPTURE(epoch);
    std::vector<std::uint64_t> got, expected;
    const auto error = error_of([&] {
      for (const ps::Batch& batch : loader.epoch()) {
        CHECK(batch.epoch() == epoch);
        got.insert(got.end(), batch.indices().begin(), batch.indices().end());
      }
    });
    REQUIRE(error);
    CHECK(error->index() == 9u);
    // Windows of 12: 10 to 21, 22 to 33, 34 to 39 and 0 to 5 of the next pass; then the one that fails.
    if (epoch != 0)
      for (std::uint64_t i = 10; i < 46; ++i) expected.push_back(i % 40);
    REQUIRE(got.size() == expected.size());
    for (std::size_t window = 0; window < got.size(); window += 12)
      for (std::vector<std::uint64_t>* const list : {&got, &expected}) {
        const auto begin = list->begin() + static_cast<std::ptrdiff_t>(window);
        std::sort(begin, begin + 12);
      }
    CHECK(got == expected);
  }
}

TEST_CASE("every pipeline can have epochs of so many steps, whose batches go from one pass into the next") {
  const Watchdog dog(60s);
  // Fewer records than rows of a batch as well: it then has several passes.
  for (const std::uint64_t count : {25u, 3u}) {
    CAPTURE(count);
    const ps::Pipeline order = ps::from(Records{.count = count}) | ps::shuffle({.seed = 4});
    const ps::Pipeline p = order | AddDraw{} | ps::batch(4, {.tail = ps::Tail::drop}) | steps(5);
    CHECK(p.steps_per_epoch() == 5);
    ps::Loader loader(p, {.threads = 3, .epochs = 4});
    std::vector<std::uint64_t> got, expected;
    for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
      std::uint64_t number = 0;
      for (const ps::Batch& batch : loader.epoch()) {
        CHECK(batch.epoch() == epoch);
        CHECK(batch.number() == number++);
        REQUIRE(batch.size() == 4);
        CHECK(batch.global_size() == 4);
        for (std::size_t row = 0; row < 4; ++row) {
          // Draws are those of the pass and the position in it.
          const std::uint64_t position = got.size();
          const auto alone = (order | AddDraw{}).at(position % count, position / count);
          CHECK((batch.view<std::uint32_t, 2>("x")(static_cast<std::int64_t>(row), 0) ==
                 alone["x"].as<std::uint32_t, 1>()(0)));
          got.push_back(batch.indices()[row]);
        }
      }
      CHECK(number == 5);
    }
    CHECK_FALSE(loader.next());
    for (std::uint64_t pass = 0; expected.size() < 80; ++pass) {
      std::vector<std::uint64_t> all(count);
      order.fill(pass, 0, all);
      expected.insert(expected.end(), all.begin(), all.end());
    }
    expected.resize(80);
    CHECK(got == expected);
  }
}

TEST_CASE("ranks share the batches of so many steps as any others, and one state is all of theirs") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 23}) | ps::shuffle() | AddDraw{} | ps::batch(7);
  const std::vector<Got> whole = collect(p | steps(6), {.threads = 2}, 4);
  REQUIRE(whole.size() == 24);
  std::vector<ps::State> states;
  for (const int world : {1, 2, 3}) {
    std::vector<ps::Loader> ranks;
    for (int rank = 0; rank < world; ++rank) {
      ranks.emplace_back(p | steps(6, rank, world),
                         ps::LoaderOptions{.threads = 1 + static_cast<unsigned>(rank), .epochs = 4});
      if (!states.empty()) ranks.back().resume(states.back());  // of another number of ranks
    }
    const std::size_t begin = static_cast<std::size_t>(world - 1) * 8;
    for (std::size_t i = begin; i < begin + 8; ++i) {
      std::vector<std::uint64_t> indices;
      for (ps::Loader& rank : ranks) {
        std::optional<ps::Batch> batch = rank.next();
        if (!batch) batch = rank.next();  // after an epoch's end
        REQUIRE(batch);
        CHECK(batch->epoch() == i / 6);
        CHECK(batch->number() == i % 6);
        CHECK(batch->global_size() == 7);
        indices.insert(indices.end(), batch->indices().begin(), batch->indices().end());
      }
      CHECK(indices == whole[i].indices);
    }
    const ps::State first = ranks[0].state();
    for (const ps::Loader& rank : ranks) {
      const ps::State state = rank.state();  // but for how many samples were its own
      CHECK((state.position == first.position && state.epoch == first.epoch && state.number == first.number &&
             state.step == first.step && state.fingerprint == first.fingerprint));
    }
    states.push_back(ranks[0].state());
  }
}

TEST_CASE("after a loop over so many steps that is left early, or fails, the next goes on after its last batch") {
  const Watchdog dog(60s);
  Records source{.count = 20};
  source.shared->faults[6] = Fault::corrupt;
  const ps::Pipeline p = ps::from(source) | ps::batch(3) | steps(100);
  ps::Loader loader(p, {.threads = 2});
  std::vector<std::uint64_t> got;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    std::uint64_t shown = 0;
    for (const ps::Batch& batch : loader.epoch()) {
      CHECK(batch.epoch() == epoch);
      CHECK(batch.number() == shown);
      got.insert(got.end(), batch.indices().begin(), batch.indices().end());
      if (++shown == 1) break;
    }
  }
  CHECK(got == std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5});
  got.clear();
  CHECK(error_of([&] { (void)collect(loader); })->index() == 6u);
  CHECK(loader.state().position == 6);
  // Counted over all passes, record 6 stands at positions 6 and 26: in the batches of positions 6 to 8, and 24 to 26.
  const auto error = error_of([&] {
    for (const ps::Batch& batch : loader.epoch()) {
      CHECK(batch.epoch() == 3);
      got.insert(got.end(), batch.indices().begin(), batch.indices().end());
    }
  });
  REQUIRE(error);
  CHECK(got == std::vector<std::uint64_t>{9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 0, 1, 2, 3});
}

TEST_CASE("a plan of so many steps knows no last batch") {
  const ps::Pipeline p = ps::from(Records{.count = 30}) | ps::shuffle() | ps::batch(4) | steps(7, 1, 2);
  CHECK(p.plan().find("7 an epoch") != std::string::npos);
  CHECK(p.plan().find("the last one, of") == std::string::npos);
}

TEST_CASE("steps_per_epoch is refused where it can't be, or need not be, said") {
  const auto cause_of = [](const std::function<void()>& f) {
    const auto error = error_of(f);
    REQUIRE(error);
    CHECK(error->stage() == "for_rank");
    return error->cause();
  };
  CHECK(cause_of([&] { ps::Loader(ps::from(Records{}) | ps::batch(4) | steps(7)); }).find("without samples") !=
        std::string::npos);
  CHECK(cause_of([&] { ps::Loader(ps::from(Records{}) | even() | ps::batch(4) | steps(7)); }).find("without samples") !=
        std::string::npos);
  CHECK(cause_of([&] { (void)(ps::from(Counting{}) | ps::batch(4) | steps(7)); }).find("a stream of its own") !=
        std::string::npos);
  CHECK(cause_of([&] { (void)(ps::from(Counting{}) | steps(7, 0, 2)); }).find("a stream of its own") !=
        std::string::npos);
  const ps::Stage wide = ps::map("x", [](ps::View<std::uint32_t, 1>) {});
  const ps::Pipeline varying = ps::from(Records{.count = 30, .width = ps::dynamic}) | wide | ps::ragged("x") | even();
  CHECK(cause_of([&] {
          (void)(varying | ps::batch(4, {.max_bytes = 100}) | steps(7, 0, 2));
        }).find("end by the sizes") != std::string::npos);
  CHECK_NOTHROW(varying | ps::batch(4, {.max_bytes = 100}) | steps(7));
  CHECK(cause_of([] { (void)steps(std::uint64_t{1} << 32); }).find("2^32 - 1") != std::string::npos);
}

TEST_CASE("a plan says how long an epoch is made") {
  const std::string plan = (ps::from(Records{.count = 30}) | even() | ps::batch(4) | steps(7, 1, 2)).plan();
  CAPTURE(plan);
  CHECK(plan.find("7 an epoch") != std::string::npos);
  CHECK(
      plan.find("rank 1 of 2, an epoch is 7 batches of one pass over the data after the other: rows 2 to 3 of the 4") !=
      std::string::npos);
}
