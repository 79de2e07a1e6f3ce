// SPDX-License-Identifier: Apache-2.0
// Pipelines as parts of joins: what may stand in one, what it draws, costs and says.
#include "support/catch.hpp"

#include <bit>
#include <cstring>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <penstock/classes.hpp>
#include <penstock/extend/cache.hpp>
#include <penstock/join.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/stages/cache.hpp>
#include <penstock/stages/draw.hpp>
#include <penstock/windows.hpp>

#include "core/chain/album.hpp"

using namespace album;

namespace {

// The numbers 0, 1, 2 …, in a field of any name.
ps::Memory numbers(std::uint64_t count, const char* field = "n", std::int64_t first = 0) {
  std::vector<std::int64_t> values(count);
  for (std::uint64_t i = 0; i < count; ++i) values[i] = first + static_cast<std::int64_t>(i);
  ps::Memory memory;
  memory.add<std::int64_t>(field, ps::Shape{}, std::move(values));
  return memory;
}

ps::Stage draw(const char* field = "n") {
  return ps::map(field, [](ps::View<std::int64_t, 0> n, ps::Context& context) {
    n() = n() * 1000 + static_cast<std::int64_t>(context.rng().below(1000));
  });
}
ps::Stage add(const char* field, std::int64_t more) {
  return ps::map(field, [more](ps::View<std::int64_t, 0> n) { n() += more; });
}

std::vector<std::int64_t> all(const ps::Pipeline& p, const std::string& field, std::uint64_t epochs = 1,
                              ps::LoaderOptions options = {.threads = 2}) {
  std::vector<std::int64_t> values;
  ps::Loader loader(p | ps::batch(4), options);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch)
    for (ps::Batch& batch : loader.epoch())
      for (std::uint64_t row = 0; row < batch.size(); ++row)
        values.push_back(batch.view<std::int64_t, 1>(field)(static_cast<std::int64_t>(row)));
  return values;
}

ps::Stage crop_of(const char* field) { return fake::image_stage(field, fake::RandomCrop{5, 4}); }

std::string message_of(const std::function<void()>& f) {
  const auto error = error_of(f);
  return error ? error->what() : "";
}

// Records that lie in blocks of four; block 2 can't be loaded.
struct InBlocks {
  bool bad = true;
  std::int64_t more = 0;  ///< added to each number
  std::uint64_t size() const { return 16; }
  ps::Schema schema() const { return {{"n", ps::DType::i64, {}}}; }
  std::string name() const { return "in blocks"; }
  std::uint64_t blocks() const { return 4; }
  std::uint64_t block_bytes(std::uint64_t) const { return 32; }
  void blocks_of(std::uint64_t i, std::vector<std::uint64_t>& ids) const { ids.push_back(i / 4); }
  void load(std::uint64_t block, std::span<std::byte> bytes) const {
    if (bad && block == 2) throw ps::Error(ps::Errc::corrupt, "planted in a block");
    for (std::uint64_t k = 0; k < 4; ++k) {
      const auto value = static_cast<std::int64_t>(block * 4 + k) + more;
      std::memcpy(bytes.data() + 8 * k, &value, 8);
    }
  }
  void read(std::uint64_t i, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
    std::int64_t value = 0;
    std::memcpy(&value, blocks[0].data() + i % 4 * 8, 8);
    out.scalar(0, value);
  }
};

}  // namespace

TEST_CASE("each join takes pipelines, and equal parts draw differently") {
  const Watchdog dog(60s);
  const ps::Pipeline part = ps::from(numbers(8)) | draw();
  const ps::Pipeline zipped = ps::from(ps::zip({{part}, {part, "b_"}})) | ps::seed(3);
  const auto a = all(zipped, "n"), b = all(zipped, "b_n");
  REQUIRE(a.size() == 8);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(a[i] / 1000 == static_cast<std::int64_t>(i));
    CHECK(b[i] / 1000 == static_cast<std::int64_t>(i));
    equal += a[i] == b[i];
  }
  CHECK(equal <= 1);
  const auto twice = all(ps::from(ps::concat(part, part)) | ps::seed(3), "n", 2);
  CHECK(std::equal(a.begin(), a.end(), twice.begin()));             // the first part, at the same places
  CHECK_FALSE(std::equal(a.begin(), a.end(), twice.begin() + 8));   // the second part
  CHECK_FALSE(std::equal(a.begin(), a.end(), twice.begin() + 16));  // another epoch
  const auto in_turns = all(ps::from(ps::interleave(part, part)) | ps::seed(3), "n");
  for (std::size_t i = 0; i < 16; ++i) CHECK(in_turns[i] / 1000 == static_cast<std::int64_t>(i / 2));
  CHECK(all(ps::mix({{part, 1}, {part, 1}}, {.count = 40, .seed = 3}), "n").size() == 40);
  // Another seed draws otherwise; another number of threads does not.
  CHECK(all(zipped, "n", 2, {.threads = 5}) == all(zipped, "n", 2, {.threads = 1}));
  CHECK(all(ps::from(ps::zip({{part}, {part, "b_"}})) | ps::seed(4), "n") != a);
}

TEST_CASE("pair joins pipelines by the keys of their sources, and splits may stand in them") {
  const Watchdog dog(60s);
  const Records left{.count = 40}, right{.count = 40, .width = 2};
  const ps::SplitOptions half{.shares = {1, 1}, .part = 1, .by = ps::SplitOptions::By::key};
  const ps::Pipeline some = ps::from(left) | ps::split(half) | ps::rename("y", "left");
  const ps::Pipeline others = ps::from(right) | ps::select({30, 3, 20, 10, 9, 8, 7, 6, 5, 4, 2, 1, 0}) |
                              ps::select_fields({"y"}) | add("y", 100);
  const ps::Pipeline p = ps::from(ps::pair({{some}, {others, "b_"}}, {.unpaired = ps::Unpaired::leave_out}));
  REQUIRE(p.size() > 2);
  const auto a = all(p, "left"), b = all(p, "b_y");
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] + 100 == b[i]);
  CHECK(std::ranges::is_sorted(a));
  const ps::Pipeline taken =
      ps::from(ps::concat(ps::from(numbers(10)) | ps::take(3), ps::from(numbers(10)) | ps::skip(8)));
  CHECK(all(taken, "n") == std::vector<std::int64_t>{0, 1, 2, 8, 9});
  CHECK(taken.plan().find("chosen by take 3") != std::string::npos);
  // A pipeline with nothing but its source is its source.
  const auto source = ps::share(numbers(3));
  CHECK(ps::AnySource(ps::from(source)).model() == source.model());
}

TEST_CASE("stages of the whole pipeline are refused in a part, by name") {
  const ps::Pipeline p = ps::from(numbers(9));
  const std::pair<ps::Pipeline, const char*> refused[] = {
      {p | ps::shuffle(), "shuffle draws an order for each epoch"},
      {p | ps::draw_weighted({.weights = std::vector<double>(9, 1.0)}), "draw_weighted draws an order"},
      {p | ps::repeat(2), "repeat repeats records"},
      {p | ps::filter("n", [](ps::View<const std::int64_t, 0> n) { return n() > 2; }), "changes the number of samples"},
      {p | Twice{}, "changes the number of samples"},
      {p | ps::batch(2), "batch joins several samples"},
      {p | ps::on_error({.policy = ps::OnError::mask}), "on_error is a setting of the whole pipeline"},
      {p | ps::check({.verify = true}), "check is a setting"},
      {p | ps::seed(3), "the seed is a setting"},
      {p | ps::for_rank({.rank = 0, .world = 2}), "for_rank is a setting"},
      {p | draw() | ps::cache({.max_bytes = 1 << 20, .allows = {.random = true, .unversioned = true}}),
       "the draws that its cache keeps"},
      {ps::mix({{p, 1}, {p, 2}}), "mix draws an order"},
  };
  for (const auto& [part, why] : refused) {
    const std::string message = message_of([&, &part = part] { (void)ps::zip(part, numbers(9, "m")); });
    INFO(message);
    CHECK(message.find(why) != std::string::npos);
    CHECK(message.find("put it after the join") != std::string::npos);
  }
  const ps::Pipeline varies = ps::from(Album(Album::pixels, true));
  CHECK(message_of([&] { (void)ps::share(varies | ps::ragged("image")); }).find("become a batch") != std::string::npos);
  CHECK(message_of([&] { (void)ps::share(varies | ps::pad("image", {.to = 9})); }) != "");
}

TEST_CASE("an error in a part names the stage, the part and the record of the whole") {
  const Watchdog dog(60s);
  Records good{.count = 20}, bad{.count = 20};
  bad.shared->faults[7] = Fault::corrupt;
  const auto fails_at = [](std::int64_t at) {
    return ps::map("y",
                   [at](ps::View<std::int64_t, 0> y) {
                     if (y() == at) throw ps::Error(ps::Errc::corrupt, "planted");
                   },
                   {.name = "check"});
  };
  const auto part = [&](const Records& r) { return ps::from(r) | fails_at(12); };
  const auto read = error_of([&] {
    (void)collect(ps::from(ps::concat(ps::from(good) | add("y", 100), part(bad))) | ps::batch(4), {.threads = 2});
  });
  REQUIRE(read);
  CHECK(read->stage() == "read of part 1");
  CHECK(read->key() == "key-7");
  CHECK(read->index() == 27);
  CHECK(read->offset() == 17);
  CHECK(read->cause().find("it is record 7 of part 1 of concat(records, records)") != std::string::npos);
  const auto stage = error_of([&] {
    (void)collect(ps::from(ps::zip({{good}, {part(good), "b_"}})) | ps::batch(4), {.threads = 2});
  });
  REQUIRE(stage);
  CHECK(stage->stage() == "check(y) of part 1");
  CHECK(stage->source() == "records");
  CHECK(stage->file() == "/nowhere/records");
  CHECK(stage->key() == "key-12");
  CHECK(stage->index() == 12);
  CHECK(stage->cause() == "planted");
  // Parts of parts, and records that have other numbers in their source.
  const auto inner = ps::concat(ps::from(good) | ps::skip(10) | fails_at(12), ps::from(good) | add("y", 100));
  const auto nested = error_of([&] {
    (void)collect(ps::from(ps::zip({{ps::from(numbers(30)) | add("n", 1)}, {inner}}, {.by = ps::PairBy::position})) |
                      ps::batch(4),
                  {.threads = 2});
  });
  REQUIRE(nested);
  CHECK(nested->stage() == "check(y) of part 0 of part 1");
  CHECK(nested->index() == 2);
  CHECK(nested->key() == "key-12");
  CHECK(nested->cause().find("it is record 12 of records") != std::string::npos);
  // Policies act on what a part can't make.
  ps::Loader loader(
      ps::from(ps::zip({{good}, {part(bad), "b_"}})) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(5),
      {.threads = 2, .epochs = 1});
  std::uint64_t masked = 0;
  for (ps::Batch& batch : loader.epoch())
    for (const std::uint8_t m : batch.mask()) masked += m == 0;
  CHECK(masked == 2);
}

TEST_CASE("nested joins of parts are exact, resumed at each batch, at any number of threads") {
  const Watchdog dog(60s);
  const auto inner = ps::concat(ps::from(numbers(15)) | draw(), ps::from(numbers(15, "n", 50)) | ps::take(5) | draw());
  const ps::Pipeline of_part = ps::from(inner) | draw();
  const ps::Pipeline p =
      ps::from(ps::zip({{of_part}, {of_part, "b_"}, {numbers(20), "c_"}})) | ps::shuffle({.seed = 9}) | ps::batch(3);
  const auto whole = collect(p, {.threads = 1}, 2);
  CHECK(collect(p, {.threads = 5}, 2) == whole);
  for (std::size_t stop = 0; stop <= 14; ++stop) {
    ps::Loader first(p, {.threads = 2});
    std::vector<Got> got;
    for (std::size_t i = 0; i < stop;)
      if (auto batch = first.next()) {
        got.push_back(copy(*batch));
        ++i;
      }
    ps::Loader rest(p, {.threads = 3});
    rest.resume(first.state());
    while (got.size() < whole.size())
      if (auto batch = rest.next()) got.push_back(copy(*batch));
    CHECK(got == whole);
  }
}

TEST_CASE("values of a part are written to their rows, and promised pixels are decoded where they are needed") {
  const Watchdog dog(60s);
  for (const bool varies : {false, true}) {
    const Album promised(Album::promises, varies);
    const auto stages = [](const ps::Pipeline& p) { return p | crop() | maybe_flip(); };
    const ps::Pipeline plain = stages(ps::from(promised)) | ps::seed(1);
    ps::Loader alone(plain | ps::batch(8), {.threads = 2, .epochs = 1});
    (void)collect(alone);
    const std::uint64_t pixels = promised.counts->pixels.exchange(0);
    ps::Loader in_part(ps::from(ps::share(stages(ps::from(promised)))) | ps::batch(8), {.threads = 2, .epochs = 1});
    (void)collect(in_part);
    CHECK(in_part.report().copied_bytes == alone.report().copied_bytes);
    CHECK(promised.counts->pixels.exchange(0) == pixels);
    // The pixels that no stage of the part needs are decoded by the stages after the join.
    ps::Loader later(stages(ps::from(ps::zip({{ps::from(promised) | add("label", 1)}, {numbers(60)}}))) | ps::batch(8),
                     {.threads = 2, .epochs = 1});
    (void)collect(later);
    CHECK(promised.counts->pixels.exchange(0) == pixels);
    CHECK(later.report().copied_bytes == 480);  // of the numbers, which lie in memory
  }
}

TEST_CASE("promised pixels of a part that are damaged name their field and record") {
  const Watchdog dog(60s);
  const Album damaged(Album::promises, false, {5});
  // The source that has the field is found through two joins, by the field's slot in each.
  const ps::Pipeline part =
      ps::from(ps::zip({{numbers(60)}, {damaged, "p_"}})) | ps::take(30) | ps::rename("p_label", "l");
  const ps::Pipeline p = ps::from(ps::zip({{numbers(30, "m")}, {part, "b_"}})) | crop_of("b_p_image") |
                         ps::check({.verify = true}) | ps::batch(4);
  const auto error = error_of([&] { (void)collect(p, {.threads = 2}); });
  REQUIRE(error);
  CHECK(error->stage() == "read");
  CHECK(error->key() == "picture 5");
  CHECK(error->index() == 5);
  CHECK(error->cause().find("the sum differs") != std::string::npos);
  CHECK(error->source() == "album");
}

TEST_CASE("the check and the stop and the limits reach into parts") {
  const Watchdog dog(60s);
  const Album promised(Album::promises, false, {5});
  const ps::Pipeline part = ps::from(promised) | crop();
  const ps::Pipeline joined = ps::from(ps::zip({{part}, {numbers(60)}}));
  (void)collect(joined | ps::batch(8), {.threads = 2, .epochs = 1});
  CHECK(promised.counts->verified == 0);
  const auto damage = error_of(
      [&] { (void)collect(joined | ps::check({.verify = true}) | ps::batch(8), {.threads = 2, .epochs = 1}); });
  REQUIRE(damage);
  CHECK(damage->index() == 5);
  const auto large = error_of(
      [&] { (void)collect(joined | ps::check({.max_sample_bytes = 50}) | ps::batch(8), {.threads = 2, .epochs = 1}); });
  REQUIRE(large);
  CHECK(large->code() == ps::Errc::limit_exceeded);
  // A stage's scratch counts against the loader's limit.
  const auto hungry = ps::map(
      "n", [](ps::View<const std::int64_t, 0>, ps::Output<std::uint8_t, 1> out) { out.emplace({64 << 20})(0) = 1; },
      {.out = "big", .shape = ps::Shape{ps::dynamic}});
  const ps::Pipeline big = ps::from(ps::share(ps::from(numbers(9)) | hungry | ps::drop_fields({"big"}))) | ps::batch(2);
  const auto limited = error_of([&] { (void)collect(big, {.threads = 1, .max_memory_bytes = 8 << 20}); });
  REQUIRE(limited);
  CHECK(limited->code() == ps::Errc::out_of_memory);
  CHECK(limited->stage() == "map(n) of the part");
  CHECK(collect(big, {.threads = 1, .epochs = 1}).size() == 5);
  // A stage in a part sees that the loader stops.
  std::atomic<bool> begun{false}, saw{false};
  const ps::Pipeline slow = ps::from(numbers(9)) | ps::map("n", [&](ps::View<std::int64_t, 0>, ps::Context& context) {
                              begun = true;
                              for (int i = 0; i < 5000 && !context.stop_requested(); ++i)
                                std::this_thread::sleep_for(1ms);
                              saw = saw || context.stop_requested();
                            });
  ps::Loader loader(ps::from(ps::share(slow)) | ps::batch(2), {.threads = 1});
  std::jthread consumer([&] { (void)loader.next(); });
  CHECK(eventually([&] { return begun.load(); }));
  loader.stop();
  consumer.join();
  CHECK(eventually([&] { return saw.load(); }));
}

TEST_CASE("blocks of a part are decoded once, and a bad one costs its records") {
  const Watchdog dog(60s);
  const ps::Pipeline part =
      ps::from(InBlocks{}) | ps::select({15, 0, 9, 1, 14, 8, 2, 13, 3, 12, 11, 10}) | add("n", 100);
  const ps::Pipeline p = ps::from(ps::zip({{part}, {numbers(12, "m")}}, {.by = ps::PairBy::position}));
  ps::Loader loader(p | ps::on_error({.policy = ps::OnError::drop}) | ps::batch(3), {.threads = 2, .epochs = 1});
  std::vector<std::int64_t> got;
  for (ps::Batch& batch : loader.epoch())
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(batch.size()); ++row)
      got.push_back(batch.view<std::int64_t, 1>("n")(row));
  CHECK(got == std::vector<std::int64_t>{115, 100, 101, 114, 102, 113, 103, 112});
  CHECK(loader.report().block_decodes >= 3);
  CHECK(loader.report().block_decodes <= 12);
  const auto error = error_of([&] { (void)collect(p | ps::batch(3), {.threads = 2}); });
  REQUIRE(error);
  CHECK(error->cause().find("planted in a block") != std::string::npos);
  CHECK(error->index() == 2);
}

TEST_CASE("a part with a cache does not take the blocks of its neighbour") {
  const Watchdog dog(120s);
  // A new cache gets records while their blocks are planned: of the next epoch, those that come again, and those that
  // another part has just read.
  const auto cached = [] { return ps::from(InBlocks{.bad = false}) | ps::cache({.max_bytes = 1 << 20}); };
  const InBlocks other{.bad = false, .more = 100};
  const std::function<ps::AnySource()> joins[] = {
      [&] {
        return ps::zip({{cached()}, {other, "b_"}});
      },
      [&] {
        return ps::zip({{other, "b_"}, {cached()}});
      },
      [&] {
        const ps::Pipeline twice = cached();
        return ps::zip({{twice}, {twice, "c_"}, {other, "b_"}});
      },
      [&] {
        return ps::zip({{ps::concat(cached(), cached())}, {ps::concat(other, other), "b_"}});
      },
      [&] {
        return ps::zip({{cached() | add("n", 0)}, {ps::from(other) | ps::rename("n", "b_n")}});
      }};
  for (const auto& join : joins)
    for (const bool draws : {false, true}) {
      const ps::Pipeline p = ps::from(join());
      const std::vector<double> weights(p.size(), 1.0);
      ps::Loader loader(
          (draws ? p | ps::draw_weighted({.weights = weights, .count = 200, .seed = 3}) : p | ps::shuffle()) |
              ps::batch(4),
          {.threads = 2});
      for (int epoch = 0; epoch < 6; ++epoch)
        for (ps::Batch& batch : loader.epoch())
          for (std::int64_t row = 0; row < static_cast<std::int64_t>(batch.size()); ++row) {
            const auto wanted = static_cast<std::int64_t>(batch.indices()[static_cast<std::size_t>(row)] % 16);
            REQUIRE(batch.view<std::int64_t, 1>("n")(row) == wanted);
            REQUIRE(batch.view<std::int64_t, 1>("b_n")(row) == wanted + 100);
          }
    }
}

TEST_CASE("a cache may stand in a part, and none after parts that draw") {
  const Watchdog dog(60s);
  std::atomic<int> made{0};
  const auto counted = ps::map("n",
                               [&](ps::View<std::int64_t, 0> n) {
                                 ++made;
                                 n() += 1;
                               },
                               {.version = 1});
  const ps::Pipeline part = ps::from(numbers(12)) | ps::take(10) | counted | ps::cache({.max_bytes = 1 << 20}) | draw();
  const ps::Pipeline p = ps::from(ps::zip({{part}, {numbers(10, "m")}}, {.by = ps::PairBy::position}));
  const auto two = all(p, "n", 2);
  CHECK(made == 10);
  for (std::size_t i = 0; i < 20; ++i) CHECK(two[i] / 1000 == static_cast<std::int64_t>(i % 10 + 1));
  CHECK_FALSE(std::equal(two.begin(), two.begin() + 10, two.begin() + 10));
  CHECK(message_of([&] { (void)(p | ps::check({.verify = true})); }).find("put the cache after the join") !=
        std::string::npos);
  const ps::Pipeline nested = ps::from(ps::zip({{ps::from(ps::share(part)) | add("n", 1)}}));
  CHECK(message_of([&] { (void)(nested | ps::check({.verify = true})); }).find("put the cache after the join") !=
        std::string::npos);
  ps::Loader counted_loader(p | ps::batch(5), {.threads = 1, .epochs = 2});
  (void)collect(counted_loader, 2);
  const ps::Report report = counted_loader.report();
  std::vector<std::uint64_t> samples;  // of read, map, cache and map of the part, and of the reading that joins
  for (const ps::StageReport& stage : report.stages) samples.push_back(stage.samples);
  CHECK(samples == std::vector<std::uint64_t>{0, 0, 20, 20, 20});
  CHECK(
      std::ranges::any_of(report.notes, [](const std::string& note) { return note.starts_with("part 0: the cache"); }));
  // What draws is declared by image stages, and found out of callables.
  const Album pictures(Album::pixels);
  const ps::Pipeline drawn = ps::from(ps::zip({{ps::from(pictures) | crop()}, {numbers(60)}}));
  CHECK(message_of([&] { (void)(drawn | ps::cache({.max_bytes = 1 << 20})); }).find("draws at random") !=
        std::string::npos);
  CHECK_NOTHROW((void)(drawn | ps::cache({.max_bytes = 1 << 20, .allows = {.random = true, .unversioned = true}})));
  const ps::Pipeline hidden = ps::from(ps::share(ps::from(numbers(9)) | draw())) |
                              ps::cache({.max_bytes = 1 << 20, .allows = {.unversioned = true}}) | ps::batch(2);
  const auto error = error_of([&] { (void)collect(hidden, {.threads = 1}); });
  REQUIRE(error);
  CHECK(error->cause().find("draws at random") != std::string::npos);
  CHECK(error->stage() == "map(n) of the part");
  const auto unversioned = ps::from(ps::share(ps::from(numbers(9)) | add("n", 1)));
  CHECK(message_of([&] {
          (void)(unversioned | ps::cache({.max_bytes = 1 << 20}));
        }).find("the stage map(n) of the part doesn't say which version") != std::string::npos);
}

TEST_CASE("parts are in the plan, the report, the fingerprint and the facts") {
  const Watchdog dog(60s);
  const auto joined = [](std::int64_t more, std::uint64_t taken = 8) {
    return ps::from(ps::zip({{ps::from(numbers(taken)) | ps::take(8) |
                              ps::map("n", [more](ps::View<std::int64_t, 0> n) { n() += more; },
                                      {.version = static_cast<std::uint64_t>(more)})},
                             {ps::from(numbers(8)) | draw(), "b_"}}));
  };
  const ps::Pipeline p = joined(1);
  CHECK(p.fingerprint() == joined(1).fingerprint());
  CHECK(p.fingerprint() != joined(2).fingerprint());
  const std::string plan = p.plan();
  INFO(plan);
  for (const char* line : {"+ part 0: memory, 8 records", "| take 8", "| map(n) of part 0: in place",
                           "+ part 1: memory", "| read of part 1"})
    CHECK(plan.find(line) != std::string::npos);
  ps::Loader loader(p | ps::batch(2), {.threads = 2, .epochs = 1});
  (void)collect(loader);
  std::vector<std::string> names;
  for (const ps::StageReport& stage : loader.report().stages) {
    names.push_back(stage.name);
    CHECK(stage.samples == 8);
  }
  CHECK(names ==
        std::vector<std::string>{"read of part 0", "map(n) of part 0", "read of part 1", "map(n) of part 1", "read"});
  // A sample outside of a loader, and a record outside of a pipeline.
  CHECK(*p.at(3)["n"].as<const std::int64_t, 0>().data() == 4);
  CHECK(*ps::read_sample(ps::zip({{ps::from(numbers(8)) | add("n", 5)}}), 3)["n"].as<const std::int64_t, 0>().data() ==
        8);
}

TEST_CASE("labels of a part are those of its source, and a stage's are refused") {
  const ps::Pipeline part = ps::from(numbers(10, "label")) | ps::skip(4) | ps::rename("label", "class");
  CHECK(ps::labels_of(ps::concat(part, part), "class") ==
        std::vector<std::int64_t>{4, 5, 6, 7, 8, 9, 4, 5, 6, 7, 8, 9});
  CHECK(all(ps::from(ps::concat(part, part)) | ps::draw_balanced("class", {.count = 12}), "class").size() == 12);
  const ps::Pipeline changed = ps::from(numbers(10, "label")) | add("label", 1);
  const std::string message = message_of([&] { (void)(ps::from(ps::share(changed)) | ps::draw_balanced("label")); });
  INFO(message);
  CHECK(message.find("made by the stage map(label) of a part") != std::string::npos);
  // A transform of whole samples may change them, so they are read.
  struct Fifth {
    ps::Schema schema(const ps::Schema& in) const { return in; }
    std::string name() const { return "fifth"; }
    void operator()(ps::Sample& sample, ps::Context&) const { sample.view<std::int64_t, 0>("label")() /= 5; }
  };
  const ps::Pipeline fifths = ps::from(numbers(10, "label")) | Fifth{} | ps::rename("label", "l");
  CHECK(ps::labels_of(fifths, "l") == std::vector<std::int64_t>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1});
  CHECK(message_of([&] { (void)ps::windows(changed, {.length = 2}); }).find("put the stages after it") !=
        std::string::npos);
  CHECK(ps::from(ps::windows(ps::from(numbers(10)) | ps::skip(4), {.length = 2})).size() == 5);
}

TEST_CASE("labels are read of chosen records only, as others may be bad") {
  const Watchdog dog(60s);
  const Records bad{.count = 20};
  for (const std::uint64_t i : {3, 17, 18}) bad.shared->faults[i] = Fault::corrupt;
  struct Known : Records {
    std::optional<std::vector<std::int64_t>> labels(std::string_view) const {
      return std::vector<std::int64_t>(count, 100);
    }
  };
  const Known known{Records{.count = 3}};
  const ps::Pipeline part = ps::from(bad) | ps::map("x", [](ps::View<std::uint32_t, 1> x) { ++x(0); });
  const std::function<ps::Pipeline(const ps::Pipeline&)> good = [](const ps::Pipeline& p) {
    return p | ps::skip(4) | ps::take(13);
  };
  const std::vector<std::int64_t> wanted = ps::labels_of(good(ps::from(bad)), "y");
  REQUIRE(wanted.size() == 13);
  const ps::Pipeline pipelines[] = {
      good(part),
      good(ps::from(ps::zip({{part}, {numbers(20)}}, {.by = ps::PairBy::position}))),
      good(ps::from(ps::pair({{bad}, {part, "b_"}}))),
      good(ps::from(ps::concat(part, ps::from(known)))),
      good(ps::from(ps::concat(ps::from(bad), ps::from(known)))),
  };
  for (const ps::Pipeline& p : pipelines) {
    CHECK(ps::labels_of(p, "y") == wanted);
    CHECK(all(p | ps::draw_balanced("y", {.count = 26}), "y").size() == 26);
  }
  // A bad record that is chosen is an error, which names it.
  for (const ps::Pipeline& p : {part | ps::skip(2), ps::from(ps::concat(part, ps::from(known))) | ps::skip(2)}) {
    const auto error = error_of([&] { (void)ps::labels_of(p, "y"); });
    REQUIRE(error);
    CHECK(error->code() == ps::Errc::corrupt);
    CHECK(error->index() == 1);
    CHECK(error->key() == "key-3");
  }
}

TEST_CASE("a cache of a part that can't be opened names the part, and may be opened later") {
  const Watchdog dog(60s);
  struct Maker final : ps::CacheMaker {
    mutable std::atomic<bool> broken{true};
    std::shared_ptr<ps::RecordCache> open(const ps::CacheKey&) const override {
      if (broken) throw ps::Error(ps::Errc::io, "planted in a cache");
      struct None final : ps::RecordCache {
        struct Reader final : ps::CacheReader {
          bool has(std::uint64_t) override { return false; }
          bool read(std::uint64_t, ps::SampleBuilder&) override { return false; }
        };
        bool has(std::uint64_t) const noexcept override { return false; }
        std::unique_ptr<ps::CacheReader> open_reader() override { return std::make_unique<Reader>(); }
        void offer(std::uint64_t, ps::Sample&) noexcept override {}
        std::vector<std::string> notes() const override { return {}; }
      };
      return std::make_shared<None>();
    }
    std::string label() const override { return "own cache"; }
  };
  const auto maker = std::make_shared<const Maker>();
  const ps::Pipeline inner = ps::from(numbers(8)) | ps::cache(maker),
                     middle = ps::from(ps::concat(numbers(8), inner)) | add("n", 0);
  const ps::Pipeline p = ps::from(ps::zip({{numbers(16, "m")}, {middle}}));
  CountingSink sink;
  const std::function<void()> openings[] = {[&] { ps::Loader loader(p | ps::batch(4)); }, [&] { (void)p.at(9); },
                                            [&] { ps::write(p, sink); }};
  for (const auto& open : openings) {
    const auto error = error_of(open);
    REQUIRE(error);
    CHECK(error->cause() == "planted in a cache");
    CHECK(error->stage() == "own cache of part 1 of part 1");
  }
  CHECK(error_of([&] { ps::Loader loader(inner | ps::batch(4)); })->stage() == "own cache");
  maker->broken = false;
  CHECK(all(p, "n").size() == 16);
}

#if defined(__x86_64__)
TEST_CASE("orders, labels and records that are read alone are the same in any floating-point mode") {
  const Watchdog dog(60s);
  struct Thirds {
    ps::Schema schema(const ps::Schema& in) const { return in; }
    std::string name() const { return "thirds"; }
    void operator()(ps::Sample& sample, ps::Context&) const {
      const auto n = sample.view<std::int64_t, 0>("n");
      volatile float third = static_cast<float>(n() + 1);
      third = third / 3.0f;
      n() = std::bit_cast<std::int32_t>(static_cast<float>(third));
    }
  };
  const auto made = [](std::uint64_t round) {
    std::vector<std::uint64_t> result;
    const std::uint64_t records = 200 + round;
    const ps::Pipeline part = ps::from(numbers(records)) | Thirds{};
    for (const std::int64_t label : ps::labels_of(part, "n")) result.push_back(static_cast<std::uint64_t>(label));
    for (std::uint64_t i = 0; i < 20; ++i)
      result.push_back(static_cast<std::uint64_t>(*ps::read_sample(part, i)["n"].as<const std::int64_t, 0>().data()));
    std::vector<double> weights;
    for (std::uint64_t i = 0; i < records; ++i) weights.push_back(static_cast<double>(1 + mix(i + round) % 1000));
    const double a = weights[0], b = weights[1], c = weights[2];
    std::vector<std::int64_t> labels;
    for (std::uint64_t i = 0; i < records; ++i) labels.push_back(static_cast<std::int64_t>(i % 7 % 3));
    const ps::Pipeline all = ps::from(numbers(records));
    for (const ps::Pipeline& p :
         {all | ps::draw_weighted({.weights = weights}),
          all | ps::draw_weighted({.weights = weights, .replacement = false}),
          all | ps::draw_balanced({.labels = labels, .class_weights = {{0, a}, {1, b}}, .replacement = true}),
          all | ps::split({.shares = {a, b, c}, .part = 1}), ps::mix({{all, a}, {all, b}, {all, c}})}) {
      result.push_back(p.size());
      std::vector<std::uint64_t> order(p.size());
      p.fill(round, 0, order);
      result.insert(result.end(), order.begin(), order.end());
    }
    return result;
  };
  const unsigned before = _mm_getcsr();
  for (std::uint64_t round = 0; round < 20; ++round) {
    const auto wanted = made(round);
    for (const unsigned rounding : {0x2000u, 0x4000u, 0x6000u}) {
      _mm_setcsr(before | rounding);
      const auto got = made(round);
      const unsigned after = _mm_getcsr();
      _mm_setcsr(before);
      CHECK((after & 0x6000u) == rounding);
      CHECK(got == wanted);
    }
  }
}
#endif

TEST_CASE("parts in parts are opened once each") {
  const Watchdog dog(60s);
  ps::Pipeline p = ps::from(numbers(2)) | add("n", 1);
  for (int i = 0; i < 60; ++i) p = ps::from(ps::zip({{p}})) | add("n", 1);
  CHECK(all(p, "n") == std::vector<std::int64_t>{61, 62});
}

TEST_CASE("a join of itself that goes on and on ends with words") {
  ps::AnySource plain = ps::share(numbers(1)), parts = ps::from(numbers(1)) | add("n", 1);
  for (int i = 0; i < 40; ++i) plain = ps::concat(plain, plain);
  CHECK(plain.size() == std::uint64_t{1} << 40);
  CHECK(ps::from(plain).plan().size() < 4000);
  int joins = 0;
  const std::string message = message_of([&] {
    for (; joins < 40; ++joins) parts = ps::concat(parts, parts);
  });
  CHECK(joins == 13);  // 8,192 parts
  CHECK(message.find("more than 10000 parts with stages") != std::string::npos);
}
