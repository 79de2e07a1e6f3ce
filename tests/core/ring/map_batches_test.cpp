// SPDX-License-Identifier: Apache-2.0
// Functions on whole batches: what they see, when they run, and what becomes of their errors.
#include "support/catch.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <penstock/report.hpp>
#include <penstock/stages/on_error.hpp>

#include "core/ring/map_batches_help.hpp"

using namespace help;
using On = ps::MapBatchesOptions::On;

namespace {

constexpr On both[] = {On::runner, On::caller};

// The batches of one thread, which all other ways must repeat: more threads, and a resume at every batch.
std::vector<Got> check_same(const ps::Pipeline& p, std::uint64_t epochs = 2) {
  const Watchdog dog(120s);
  std::vector<ps::State> states;
  std::vector<Got> expected;
  {
    ps::Loader loader(p, {.threads = 1, .epochs = epochs});
    while (loader.epoch_number() < epochs) {
      states.push_back(loader.state());
      if (auto batch = loader.next())
        expected.push_back(copy(*batch));
      else
        states.pop_back();
    }
  }
  for (const unsigned threads : {2u, 5u}) CHECK(collect(p, {.threads = threads}, epochs) == expected);
  REQUIRE(states.size() == expected.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    ps::Loader loader(p, {.threads = 1 + static_cast<unsigned>(i % 3)});
    loader.resume(states[i]);
    const std::optional<ps::Batch> batch = loader.next();
    REQUIRE(batch);
    CHECK(copy(*batch) == expected[i]);
  }
  return expected;
}

ps::Pipeline shuffled(std::uint64_t count = 61) {
  return ps::from(Records{.count = count}) | ps::shuffle({.seed = 9}) | ps::on_error({.policy = ps::OnError::mask});
}

// Fields of any length, as many elements as the record's number says.
struct Lengths {
  ps::Schema schema(const ps::Schema& in) const {
    return in.with({"v", ps::DType::u32, {ps::dynamic}}).with({"w", ps::DType::u32, {ps::dynamic}});
  }
  std::string name() const { return "lengths"; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    const auto n = static_cast<std::int64_t>(context.index() % 5);
    for (const char* field : {"v", "w"})
      for (std::uint32_t& v : sample.emplace<std::uint32_t, 1>(field, {n})) v = 7;
  }
};

}  // namespace

TEST_CASE("a function on batches sees the same batches on any thread, after any resume, in any pipeline") {
  std::vector<std::vector<Got>> of_runner, of_caller;
  for (const On on : both) {
    std::vector<std::vector<Got>>& all = on == On::runner ? of_runner : of_caller;
    const auto check = [&](const ps::Pipeline& p) { all.push_back(check_same(p | mix_rows(on))); };
    check(shuffled() | ps::batch(8));
    check(shuffled() | ps::batch(8, {.tail = ps::Tail::pad}));
    check(shuffled() | even() | ps::batch(5));
    check(shuffled() | even() | ps::batch(5, {.tail = ps::Tail::pad}));
    check(shuffled() | Parts{} | ps::batch(6));
    check(shuffled(240) | even() | ps::bucket("y", {.window = 24}) | ps::batch(6));
    check(shuffled() | ps::batch(8) | ps::for_rank({.rank = 0, .world = 1, .steps_per_epoch = 5}));
    check(shuffled() | even() | ps::batch(8) | ps::for_rank({.rank = 1, .world = 2, .steps_per_epoch = 5}));
    check(shuffled() | ps::batch(8) | ps::for_rank({.rank = 1, .world = 3}));
  }
  CHECK(of_runner == of_caller);
}

TEST_CASE("places of rows are those of their draws, and the batch's draws differ from a row's") {
  const ps::Pipeline p =
      shuffled(40) | even() | ps::batch(4) | mix_rows(On::runner) |
      ps::map_batches(
          [](ps::HostBatch& batch) {
            CHECK(batch.rng()() != batch.rng(0)());
            CHECK(batch.rng(0)() != batch.rng(1)());
            CHECK(batch.rng()() == batch.rng()());
            CHECK(error_of([&] { (void)batch.place(batch.rows()); })->code() == ps::Errc::invalid_argument);
          },
          {.on = On::caller});
  ps::Loader loader(p, {.threads = 1});
  std::vector<std::uint64_t> order(40);
  p.fill(0, 0, order);
  for (const ps::Batch& batch : loader.epoch())
    for (std::uint64_t r = 0; r < batch.size(); ++r)
      CHECK(order[batch.view<std::uint64_t, 2>("place")(static_cast<std::int64_t>(r), 1) - 1] == batch.indices()[r]);
}

TEST_CASE("a pass that goes on over epochs of steps gives rows the place of the pass") {
  const ps::Pipeline p = shuffled(10) | ps::batch(4) | mix_rows(On::runner) | ps::for_rank({.steps_per_epoch = 4});
  ps::Loader loader(p, {.threads = 1});
  std::uint64_t position = 0;
  for (const ps::Batch& batch : loader.epoch()) {
    const auto place = batch.view<std::uint64_t, 2>("place");
    for (std::int64_t r = 0; r < 4; ++r, ++position) {
      CHECK(place(r, 0) - 1 == position / 10);
      CHECK(place(r, 1) - 1 == position % 10);
    }
  }
}

TEST_CASE("padding and masked rows stay zeros, and a batch without a valid row calls nothing") {
  for (const bool filtered : {false, true}) {
    Records source{.count = 10};
    for (const std::uint64_t i : {2, 4, 5, 6, 7}) source.shared->faults[i] = Fault::corrupt;
    std::atomic<int> calls{0};
    ps::Pipeline samples = ps::from(source) | ps::on_error({.policy = ps::OnError::mask});
    if (filtered) samples = samples | ps::filter([](const ps::Sample&) { return true; });
    const ps::Pipeline p = samples | ps::batch(4, {.tail = ps::Tail::pad}) | mix_rows(On::runner) |
                           ps::map_batches([&](ps::HostBatch&) { ++calls; });
    ps::Loader loader(p, {.threads = 2, .depth = 2, .epochs = 3});
    for (int epoch = 0; epoch < 3; ++epoch)
      for (const ps::Batch& batch : loader.epoch())
        for (std::uint64_t r = 0; r < batch.size(); ++r) {
          const auto x = batch.view<std::uint32_t, 2>("x");
          const auto place = batch.view<std::uint64_t, 2>("place");
          const bool zero = x(static_cast<std::int64_t>(r), 0) == 0 && place(static_cast<std::int64_t>(r), 1) == 0;
          CHECK(zero == (batch.mask()[r] == 0));
        }
    CHECK(calls == 6);  // of nine batches, three have no valid row
  }
}

TEST_CASE("ragged fields, and fields that are padded to the longest row, are changed in place") {
  for (const bool filtered : {false, true}) {
    ps::Pipeline samples = ps::from(Records{.count = 23});
    if (filtered) samples = samples | ps::filter([](const ps::Sample&) { return true; });
    const ps::Pipeline p =
        samples | Lengths{} | ps::ragged("v") | ps::pad("w", {.value = 3}) | ps::batch(4, {.tail = ps::Tail::pad}) |
        ps::map_batches(
            [](ps::HostBatch& batch) {
              const ps::RaggedRows v = batch.ragged("v");
              const auto w = batch.view<std::uint32_t, 2>("w");
              CHECK(batch.lengths("v").size() == batch.rows());
              for (std::uint64_t r = 0; r < v.size(); ++r)
                for (std::uint32_t& value : v.view<std::uint32_t, 1>(r))
                  value += static_cast<std::uint32_t>(batch.lengths("w")[r]);
              for (std::uint32_t& value : w) value *= 10;
              CHECK(error_of([&] { (void)batch["v"]; })->code() == ps::Errc::unsupported);
              CHECK(error_of([&] { (void)batch.ragged("w"); })->code() == ps::Errc::unsupported);
              CHECK(error_of([&] { (void)batch.lengths("y"); })->code() == ps::Errc::unsupported);
              CHECK(error_of([&] { (void)batch["z"]; })->code() == ps::Errc::schema_mismatch);
              CHECK(error_of([&] { (void)batch.view<float, 1>("y"); })->code() == ps::Errc::schema_mismatch);
            },
            {.on = On::caller});
    ps::Loader loader(p, {.threads = 1});
    std::uint64_t rows = 0;
    for (const ps::Batch& batch : loader.epoch())
      for (std::uint64_t r = 0; r < batch.size(); ++r, ++rows) {
        const std::int64_t n = batch.mask()[r] != 0 ? static_cast<std::int64_t>(batch.indices()[r] % 5) : 0;
        const auto v = batch.ragged("v").view<std::uint32_t, 1>(r);
        REQUIRE(v.extent(0) == n);
        for (const std::uint32_t value : v) CHECK(value == 7u + static_cast<std::uint32_t>(n));
        const auto w = batch.view<std::uint32_t, 2>("w");
        for (std::int64_t i = 0; i < w.extent(1); ++i) CHECK(w(static_cast<std::int64_t>(r), i) == (i < n ? 70u : 30u));
      }
    CHECK(rows == 24);
    check_same(p, 1);
  }
}

TEST_CASE("several functions run one after the other, whichever threads they are on") {
  const auto step = [](std::uint32_t by, On on) {
    return ps::map_batches(
        [by](ps::HostBatch& batch) {
          for (std::uint32_t& x : batch.view<std::uint32_t, 2>("x")) x = x * 3 + by;
        },
        {.name = "step", .on = on});
  };
  std::vector<std::vector<Got>> all;
  for (const On first : both)
    for (const On second : both)
      all.push_back(check_same(shuffled(20) | ps::batch(3) | step(1, first) | step(2, second) | step(5, On::runner)));
  for (const auto& got : all) CHECK(got == all[0]);
  CHECK(all[0] !=
        check_same(shuffled(20) | ps::batch(3) | step(2, On::runner) | step(1, On::runner) | step(5, On::runner)));
}

TEST_CASE("on the caller, the thread of next() calls the function, once per batch") {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::atomic<int> calls{0};
  const ps::Pipeline p = ps::from(Records{.count = 30}) | ps::batch(3) |
                         ps::map_batches(
                             [&](ps::HostBatch&) {
                               const std::lock_guard lock(mutex);
                               threads.insert(std::this_thread::get_id());
                               ++calls;
                             },
                             {.on = On::caller});
  ps::Loader loader(p, {.threads = 2, .epochs = 1});
  CHECK(collect(loader).size() == 10);
  CHECK(threads == std::set{std::this_thread::get_id()});
  CHECK(calls == 10);
}

TEST_CASE("runners work on functions of several batches at once, and retire and make samples meanwhile") {
  const Watchdog dog(60s);
  for (const bool filtered : {false, true}) {
    Meeting together(2);
    ps::Pipeline samples = ps::from(Records{.count = 40});
    if (filtered) samples = samples | ps::filter([](const ps::Sample&) { return true; });
    // A batch's function waits until a second batch's does too.
    const ps::Pipeline p = samples | ps::batch(4) | ps::map_batches([&](ps::HostBatch&) { together.attend(); });
    ps::Loader loader(p, {.threads = 2, .depth = 4, .epochs = 1});
    CHECK(collect(loader).size() == 10);
    CHECK(together.complete());
  }
}

TEST_CASE("a batch that is completed by its closing runs its function where others can retire") {
  const Watchdog dog(60s);
  // The last record is left out, so the end of the epoch closes the last batch, whose rows are all copied by then.
  std::atomic<bool> next_epoch{false}, meanwhile{false};
  Records source{.count = 9};
  source.shared->before_read = [](std::uint64_t i) {
    if (i == 8) std::this_thread::sleep_for(60ms);
  };
  const ps::Pipeline p = ps::from(source) | ps::filter("y", [](ps::View<const std::int64_t, 0> y) { return y() < 2; }) |
                         ps::batch(4) | ps::map_batches([&](ps::HostBatch& batch) {
                           if (batch.epoch() == 1) next_epoch = true;
                           if (batch.epoch() != 0) return;
                           for (int i = 0; i < 20000 && !next_epoch; ++i) std::this_thread::sleep_for(1ms);
                           meanwhile = next_epoch.load();
                         });
  ps::Loader loader(p, {.threads = 2, .depth = 4, .epochs = 2});
  CHECK(collect(loader, 2).size() == 2);
  CHECK(meanwhile);
}

TEST_CASE("an error of a function ends the epoch after the batches before it, and the next one begins") {
  const Watchdog dog(60s);
  for (const On on : both)
    for (const Fault fault : {Fault::corrupt, Fault::standard, Fault::number, Fault::fatal, Fault::memory})
      for (const ps::OnError policy : {ps::OnError::fail, ps::OnError::replace, ps::OnError::drop}) {
        const ps::Pipeline p = ps::from(Records{.count = 40}) | ps::shuffle({.seed = 2}) |
                               ps::on_error({.policy = policy}) | ps::batch(4) |
                               ps::map_batches(
                                   [fault](ps::HostBatch& batch) {
                                     if (batch.epoch() == 0 && batch.number() == 3) raise(fault);
                                   },
                                   {.name = "own", .on = on});
        ps::Loader loader(p, {.threads = 2, .epochs = 2});
        std::vector<std::uint64_t> order(40);
        p.fill(0, 0, order);
        std::uint64_t batches = 0;
        const auto error = error_of([&] {
          while (loader.next()) ++batches;
        });
        REQUIRE(error);
        CHECK(batches == 3);
        CHECK(error->stage() == "own");
        CHECK(error->index() == order[12]);
        if (fault != Fault::memory) CHECK(error->cause().starts_with("batch 3 of epoch 0: "));
        CHECK(error->code() == (fault == Fault::corrupt  ? ps::Errc::corrupt
                                : fault == Fault::fatal  ? ps::Errc::invalid_argument
                                : fault == Fault::memory ? ps::Errc::out_of_memory
                                                         : ps::Errc::user));
        CHECK(collect(loader).size() == 10);
        CHECK(loader.state().replaced == 0);
      }
}

TEST_CASE("under mask, an error of a function masks the batch's rows, which count as bad samples") {
  const Watchdog dog(60s);
  for (const On on : both)
    for (const bool filtered : {false, true}) {
      ps::Pipeline samples = ps::from(Records{.count = 22}) | Lengths{} |
                             ps::on_error({.policy = ps::OnError::mask, .max_count = 8}) | ps::ragged("v") |
                             ps::pad("w", {.value = 3});
      if (filtered) samples = samples | ps::filter([](const ps::Sample&) { return true; });
      const auto throws_at = [&](std::set<std::uint64_t> numbers) {
        return samples | ps::batch(4) | mix_rows(on) | ps::map_batches([numbers](ps::HostBatch& batch) {
                 if (numbers.contains(batch.number())) throw std::runtime_error("planted");
               });
      };
      const ps::Pipeline p = throws_at({1, 3});
      ps::Loader loader(p, {.threads = 2, .epochs = 1});
      for (const ps::Batch& batch : loader.epoch()) {
        const bool bad = batch.number() == 1 || batch.number() == 3;
        for (const std::uint8_t mask : batch.mask()) CHECK(mask == (bad ? 0 : 1));
        if (!bad) continue;
        for (const char* field : {"x", "place", "y"})
          for (std::size_t i = 0; i < batch[field].bytes(); ++i) REQUIRE(batch[field].data[i] == std::byte{0});
        CHECK(batch.ragged("v").bytes() == 0);
        CHECK(batch["w"].shape[1] == 0);
        for (const std::int64_t length : batch.lengths("w")) CHECK(length == 0);
      }
      CHECK(loader.state().replaced == 8);
      CHECK(loader.report().notes.size() > 0);
      check_same(p, 1);
      // One batch more is above the quota.
      const ps::Pipeline three = throws_at({0, 1, 3});
      ps::Loader over(three, {.threads = 2});
      std::uint64_t batches = 0;
      const auto error = error_of([&] {
        while (over.next()) ++batches;
      });
      REQUIRE(error);
      CHECK(batches == 3);
      CHECK(error->code() == ps::Errc::quota_exceeded);
      // The error names the one row too many, inside its batch.
      ps::Pipeline few = ps::from(Records{.count = 22}) | ps::on_error({.policy = ps::OnError::mask, .max_count = 5});
      if (filtered) few = few | ps::filter([](const ps::Sample&) { return true; });
      ps::Loader inside(
          few | ps::batch(4) | ps::map_batches([](ps::HostBatch&) { throw std::runtime_error("planted"); }, {.on = on}),
          {.threads = 2});
      CHECK(error_of([&] {
              while (inside.next()) {
              }
            })->index() == 5);
      // Errors that concern no sample are not masked.
      ps::Loader mistaken(
          samples | ps::batch(4) | ps::map_batches([](ps::HostBatch& batch) { (void)batch.view<float, 1>("x"); }),
          {.threads = 1});
      CHECK(error_of([&] { (void)mistaken.next(); })->code() == ps::Errc::schema_mismatch);
    }
}

TEST_CASE("a batch with a sample that ends the run calls no function") {
  Records source{.count = 8};
  source.shared->faults[5] = Fault::fatal;
  for (const On on : both)
    for (const bool filtered : {false, true}) {
      ps::Pipeline samples = ps::from(source);
      if (filtered) samples = samples | ps::filter([](const ps::Sample&) { return true; });
      const ps::Pipeline p = samples | ps::batch(4) |
                             ps::map_batches(
                                 [](ps::HostBatch& batch) {
                                   if (batch.number() == 1) throw 1;
                                 },
                                 {.on = on});
      ps::Loader loader(p, {.threads = 1});
      CHECK(loader.next());
      CHECK(error_of([&] { (void)loader.next(); })->cause() == "planted mistake");
    }
}

TEST_CASE("a function learns that the loader is stopped, and its batch is not delivered") {
  const Watchdog dog(60s);
  for (const On on : both) {
    std::atomic<bool> inside{false};
    const ps::Pipeline p = ps::from(Records{.count = 8}) | ps::batch(4) |
                           ps::map_batches(
                               [&](ps::HostBatch& batch) {
                                 inside = true;
                                 while (!batch.stop_requested()) std::this_thread::sleep_for(1ms);
                               },
                               {.on = on});
    ps::Loader loader(p, {.threads = 1});
    std::jthread stopper([&] {
      while (!inside) std::this_thread::sleep_for(1ms);
      loader.stop();
    });
    CHECK_FALSE(loader.next());
  }
}

TEST_CASE("a function's results depend on the number of ranks, so a state is refused on another") {
  const auto on_rank = [](const ps::Pipeline& p, int rank, int world) {
    return p | ps::for_rank({.rank = rank, .world = world});
  };
  const ps::Pipeline plain = shuffled(48) | ps::batch(8), mixed = plain | mix_rows(On::runner);
  CHECK(on_rank(plain, 0, 2).fingerprint() == on_rank(plain, 0, 4).fingerprint());
  CHECK(on_rank(mixed, 0, 2).fingerprint() != on_rank(mixed, 0, 4).fingerprint());
  CHECK(on_rank(mixed, 0, 2).fingerprint() == on_rank(mixed, 1, 2).fingerprint());
  CHECK(mixed.fingerprint() == on_rank(mixed, 0, 1).fingerprint());
  ps::Loader two(on_rank(mixed, 0, 2), {.threads = 1}), other(on_rank(mixed, 1, 2), {.threads = 1}),
      four(on_rank(mixed, 0, 4), {.threads = 1}), alone(mixed, {.threads = 1});
  CHECK(two.next());
  const ps::State saved = two.state();
  other.resume(saved);
  CHECK(other.next()->number() == 1);
  const auto error = error_of([&] { four.resume(saved); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::state_mismatch);
  CHECK(error->cause().find("saved on 2 ranks, and this loader is one of 4 ranks; mix sees the rows of one rank") !=
        std::string::npos);
  CHECK(error_of([&] { alone.resume(saved); })->cause().find("2 ranks, and this loader is one of 1 rank;") !=
        std::string::npos);
  // Any other difference is named as that.
  ps::Loader another(shuffled(48) | ps::batch(4) | mix_rows(On::runner), {.threads = 1});
  CHECK(error_of([&] { another.resume(saved); })->cause().find("ranks, and this") == std::string::npos);
}

TEST_CASE("a function's name, options, version and fields are part of the fingerprint, its thread is not") {
  const ps::Pipeline batches = shuffled() | ps::batch(8);
  const auto with = [&](ps::MapBatchesOptions options) {
    return (batches | ps::map_batches([](ps::HostBatch&) {}, std::move(options))).fingerprint();
  };
  std::set<std::uint64_t> different{batches.fingerprint(), with({}),
                                    with({.name = "a"}),   with({.describe = "alpha 1"}),
                                    with({.version = 1}),  with({.adds = {{"a", ps::DType::f32, {}}}})};
  CHECK(different.size() == 6);
  CHECK(with({}) == with({.on = On::caller}));
  struct Described {
    double alpha;
    void operator()(ps::HostBatch&) const {}
    std::string describe() const { return "alpha " + std::to_string(alpha); }
    std::uint64_t version() const { return 3; }
  };
  CHECK((batches | ps::map_batches(Described{1})).fingerprint() !=
        (batches | ps::map_batches(Described{2})).fingerprint());
  CHECK((batches | ps::map_batches(Described{1}, {.version = 1})).fingerprint() !=
        (batches | ps::map_batches(Described{1})).fingerprint());
}

TEST_CASE("what stands in a wrong place is refused by name") {
  const auto nothing = [](const char* name = "map_batches") {
    return ps::map_batches([](ps::HostBatch&) {}, {.name = name});
  };
  const ps::Pipeline samples = ps::from(Records{.count = 8}), batches = samples | ps::batch(2);
  const auto cause = [](const std::function<void()>& f) {
    const auto error = error_of(f);
    REQUIRE(error);
    return error->stage() + ": " + error->cause();
  };
  CHECK(cause([&] { (void)(samples | nothing("own")); }) == "own: it works on whole batches, so it stands after batch");
  CHECK(cause([&] {
          (void)(batches | nothing() | ps::map([](ps::Sample&, ps::Context&) {}));
        }).find("stand before batch; after it stand map_batches") != std::string::npos);
  const auto adds = [&](ps::Field field) {
    return cause([&] { (void)(batches | ps::map_batches([](ps::HostBatch&) {}, {.adds = {std::move(field)}})); });
  };
  CHECK(adds({"x", ps::DType::u32, {4}}).find("has a field of this name already") != std::string::npos);
  CHECK(adds({"z", ps::DType::u32, {ps::dynamic}}).find("has a fixed shape") != std::string::npos);
  CHECK(adds({"z", ps::DType::u32, {1, 1, 1, 1, 1, 1, 1, 1}}).find("at most 7 dimensions") != std::string::npos);
  CHECK(adds({"z", ps::DType::u32, {2}, ps::Collate::ragged()}).find("has a fixed shape") != std::string::npos);
  CHECK(adds({"", ps::DType::u32, {2}}).starts_with("map_batches: "));
  CountingSink sink;
  CHECK(cause([&] { ps::write(batches | nothing(), sink); }).find("stages after batch make none") != std::string::npos);
  CHECK((batches | mix_rows(On::runner)).at(3).schema().size() == 2);
}

TEST_CASE("plan, report and timeline show functions on batches") {
  const ps::Pipeline p = ps::from(Records{.count = 200}) | ps::batch(8) |
                         ps::map_batches(
                             [](ps::HostBatch& batch) {
                               volatile std::uint64_t sum = 0;
                               for (int i = 0; i < 100000; ++i) sum = sum + batch.rows();
                             },
                             {.name = "collate", .adds = {{"z", ps::DType::f32, {3}}}}) |
                         ps::map_batches([](ps::HostBatch&) {}, {.name = "last", .on = On::caller});
  const std::string plan = p.plan();
  CHECK(plan.find("after   collate: on the host, whole batches, by the runner that made the last row -> z: f32[3]\n") !=
        std::string::npos);
  CHECK(plan.find("after   last: on the host, whole batches, by the thread that takes them\n") != std::string::npos);
  ps::Loader loader(p, {.threads = 2, .trace = 1000, .epochs = 1});
  collect(loader);
  const ps::Report report = loader.report();
  REQUIRE(report.stages.size() == 3);
  CHECK(report.stages[1].name == "collate");
  CHECK(report.stages[1].samples == 200);
  CHECK(report.stages[1].cpu_us_per_sample > 1);
  CHECK(report.stages[1].share > report.stages[2].share);
  CHECK(report.stages[2].name == "last");
  const std::string file =
      (std::filesystem::temp_directory_path() / ("map_batches_" + std::to_string(::getpid()))).string();
  loader.write_trace(file);
  std::ostringstream timeline;
  timeline << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  CHECK(timeline.str().find("\"collate\"") != std::string::npos);
  CHECK(timeline.str().find("\"last\"") != std::string::npos);
}
