// SPDX-License-Identifier: Apache-2.0
// What a cache in memory delivers is what comes without it, and what is there is not made again.
#include "core/loader/cache_help.hpp"

#include <malloc.h>

#include <atomic>
#include <memory>

#include "core/blocks/chunks.hpp"
#include "core/delivery/device_help.hpp"
#include "core/write/write_help.hpp"

using namespace help;

namespace {

using After = std::function<ps::Pipeline(const ps::Pipeline&)>;

struct Way {
  const char* name;
  After after;
  bool all = true;  // every record comes in an epoch
};

// Tells where the chain says that it is.
struct TellPlace {
  ps::Schema schema(const ps::Schema& in) const { return in.with({"place", ps::DType::u64, {4}}); }
  std::string name() const { return "tell_place"; }
  std::uint64_t version() const { return 1; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    const auto to = sample.emplace<std::uint64_t, 1>("place", {4});
    to(0) = context.place().epoch;
    to(1) = context.place().position;
    to(2) = context.place().child;
    to(3) = context.index();
  }
};

// Draws what "noise" becomes.
struct Noise {
  ps::Schema schema(const ps::Schema& in) const { return in.with({"noise", ps::DType::u64, {2}}); }
  std::string name() const { return "noise"; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    for (std::uint64_t& v : sample.emplace<std::uint64_t, 1>("noise", {2})) v = context.rng().below(1u << 30);
  }
};

std::vector<Way> ways() {
  return {
      {"in order", [](const ps::Pipeline& p) { return p | ps::batch(7); }},
      {"shuffled", [](const ps::Pipeline& p) { return p | ps::shuffle({.seed = 4}) | Noise{} | ps::batch(7); }},
      {"take", [](const ps::Pipeline& p) { return p | ps::take(20) | Noise{} | ps::batch(7); }, false},
      {"repeat", [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::repeat(2) | Noise{} | ps::batch(7); }},
      {"select",
       [](const ps::Pipeline& p) {
         return p | ps::select({3, 3, 9, 0, 59}) | ps::batch(3);
       },
       false},
      {"padded tail", [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::batch(7, {.tail = ps::Tail::pad}); }},
      {"filter after", [](const ps::Pipeline& p) { return p | ps::shuffle() | even() | Noise{} | ps::batch(7); }},
      {"flat_map after", [](const ps::Pipeline& p) { return p | ps::shuffle() | Parts{} | Noise{} | ps::batch(7); }},
      {"both after", [](const ps::Pipeline& p) { return p | ps::shuffle() | even() | Parts{} | ps::batch(7); }},
      {"bucket", [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::bucket("tokens") | ps::batch(7); }},
      {"few fields",
       [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::select_fields({"made"}) | ps::batch(7); }},
      {"seeded after", [](const ps::Pipeline& p) { return p | ps::shuffle() | Noise{} | ps::seed(9) | ps::batch(7); }},
      {"sharded",
       [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::for_rank({.rank = 1, .world = 2}) | ps::batch(7); },
       false},
  };
}

}  // namespace

TEST_CASE("batches of several epochs are the same with a cache and records are made once") {
  const Watchdog dog(120s);
  for (const Way& way : ways()) {
    CAPTURE(way.name);
    const EveryKind bare, cached;
    const Make without, with;
    const ps::Pipeline expected = way.after(ps::from(bare) | without);
    const std::vector<Got> wanted = epochs_of(expected, 3, 2);
    const ps::Pipeline p = way.after(ps::from(cached) | with | ps::cache({.max_bytes = plenty}));
    CHECK(p.fingerprint() == expected.fingerprint());
    CHECK(p.schema() == expected.schema());
    CHECK(p.size() == expected.size());
    for (const unsigned threads : {1u, 4u}) {
      // The first epoch alone, so that none of its records is on its way while a later one is asked for it.
      if (threads == 1 && way.all) {
        const std::vector<Got> first = epochs_of(p, 1, threads);
        CHECK(first == std::vector<Got>(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(first.size())));
        CHECK(with.calls->total() == 60);
      }
      CHECK(epochs_of(p, 3, threads) == wanted);
    }
    if (way.all) {
      CHECK(with.calls->total() == 60);
      CHECK(cached.reads->total() == 60);
    }
    CHECK(with.calls->most() <= (way.all ? 1 : 4));
    with.calls->clear();
    cached.reads->clear();
    CHECK(epochs_of(p, 3) == wanted);
    CHECK(with.calls->total() == 0);
    CHECK(cached.reads->total() == 0);
  }
}

TEST_CASE("a cache may stand directly after the source and anywhere among stages") {
  const Watchdog dog(60s);
  for (int place = 0; place <= 3; ++place) {
    CAPTURE(place);
    const EveryKind source;
    const Make one{.by = 10, .called = "one"}, two{.by = 100, .called = "two"};
    const auto build = [&](bool cached) {
      const auto at = [&](const ps::Pipeline& p, int here) {
        return cached && here == place ? p | ps::cache({.max_bytes = plenty}) : p;
      };
      ps::Pipeline p = at(ps::from(source), 0);
      p = at(p | one, 1);
      p = at(p | ps::shuffle(), 2);
      return at(p | two, 3) | TellPlace{} | ps::batch(9);
    };
    const std::vector<Got> wanted = epochs_of(build(false), 2);
    const ps::Pipeline p = build(true);
    CHECK(epochs_of(p, 1) == std::vector<Got>(wanted.begin(), wanted.begin() + 7));
    for (Calls* calls : {source.reads.get(), one.calls.get(), two.calls.get()}) calls->clear();
    CHECK(epochs_of(p, 2) == wanted);
    CHECK(source.reads->total() == 0);
    CHECK(one.calls->total() == (place >= 1 ? 0 : 120));
    CHECK(two.calls->total() == (place >= 3 ? 0 : 120));
  }
}

TEST_CASE("a map before a cache is told epoch 0 and the record's index") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(EveryKind{}) | ps::shuffle() | TellPlace{} | ps::cache({.max_bytes = plenty}) |
                         ps::select_fields({"place"}) | ps::batch(10);
  ps::Loader loader(p, {.threads = 3, .epochs = 2});
  for (int e = 0; e < 2; ++e)
    for (const ps::Batch& b : loader.epoch()) {
      const auto places = b.view<std::uint64_t, 2>("place");
      for (std::int64_t r = 0; r < places.extent(0); ++r) {
        const std::uint64_t index = b.indices()[static_cast<std::size_t>(r)];
        CHECK(places(r, 0) == 0);
        CHECK(places(r, 1) == index);
        CHECK(places(r, 2) == 0);
        CHECK(places(r, 3) == index);
      }
    }
}

TEST_CASE("blocks of records that are in a cache are not loaded") {
  const Watchdog dog(60s);
  for (const bool rows : {false, true}) {
    CAPTURE(rows);
    const Chunks source{.count = 203, .per_block = 8, .spanning = rows ? 0u : 5u, .rows = rows};
    const auto after = [](const ps::Pipeline& p) { return p | ps::shuffle({.blocks = true}) | ps::batch(10); };
    const std::vector<Got> wanted = epochs_of(after(ps::from(source)), 3);
    source.shared->loads.clear();
    const ps::Pipeline begin = ps::from(source) | ps::cache({.max_bytes = plenty});
    const ps::Pipeline p = after(begin);
    CHECK(epochs_of(begin | ps::take(80) | ps::batch(16), 1).size() == 5);
    const std::uint64_t first = source.decodes();
    CHECK(first <= 11);
    CHECK(first >= 10);
    CHECK(epochs_of(p, 1) == std::vector<Got>(wanted.begin(), wanted.begin() + 21));
    // Those that only records of before need are not loaded a second time.
    if (rows) CHECK(source.decodes() == source.blocks());
    CHECK(source.decodes() <= source.blocks() + 1);
    source.shared->loads.clear();
    for (const unsigned threads : {1u, 4u}) {
      ps::Loader loader(p, {.threads = threads, .max_block_bytes = 3 * 8 * 32 + 96, .epochs = 3});
      CHECK(collect(loader, 3) == wanted);
    }
    CHECK(source.decodes() == 0);
  }
}

TEST_CASE("blocks that a part of their records is missing of are loaded for these") {
  const Watchdog dog(60s);
  const Chunks source{.count = 160, .per_block = 8, .rows = true};
  const ps::Pipeline begin = ps::from(source) | ps::cache({.max_bytes = plenty});
  std::vector<std::uint64_t> some;
  for (std::uint64_t i = 0; i < 160; ++i)
    if (i / 8 % 2 == 0 && i % 16 != 3) some.push_back(i);  // all but one of every second block
  static_cast<void>(epochs_of(begin | ps::select(some) | ps::batch(10), 1));
  CHECK(source.decodes() == 10);
  source.shared->loads.clear();
  ps::Loader loader(begin | ps::batch(16), {.threads = 2, .max_block_bytes = 3 * 8 * 32, .epochs = 1});
  for (const ps::Batch& b : loader.epoch()) check_values(source, b);
  CHECK(source.decodes() == 20);
  source.shared->loads.clear();
  static_cast<void>(epochs_of(begin | ps::batch(16), 2));
  CHECK(source.decodes() == 0);
}

namespace {

// Has every record, as it says, and none when it is asked for it: what a store does whose records are all damaged.
struct Damaged final : ps::RecordCache {
  struct Reader final : ps::CacheReader {
    bool has(std::uint64_t) override { return true; }
    bool read(std::uint64_t, ps::SampleBuilder&) override { return false; }
  };
  bool has(std::uint64_t) const noexcept override { return true; }
  std::unique_ptr<ps::CacheReader> open_reader() override { return std::make_unique<Reader>(); }
  void offer(std::uint64_t, ps::Sample&) noexcept override { ++offered; }
  std::vector<std::string> notes() const override { return {}; }
  std::atomic<std::uint64_t> offered{0};
};
struct Keeping final : ps::CacheMaker {
  explicit Keeping(std::shared_ptr<ps::RecordCache> it) : cache(std::move(it)) {}
  std::shared_ptr<ps::RecordCache> open(const ps::CacheKey&) const override { return cache; }
  std::string label() const override { return "cache"; }
  std::shared_ptr<ps::RecordCache> cache;
};

}  // namespace

TEST_CASE("records that a cache has lost are made of their blocks though none were planned") {
  const Watchdog dog(60s);
  const auto store = std::make_shared<Damaged>();
  const Chunks source{.count = 96, .per_block = 8, .spanning = 5};
  const auto after = [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::batch(10); };
  const ps::Pipeline p = ps::from(source) | ps::cache(std::make_shared<Keeping>(store), {});
  CHECK(epochs_of(after(p), 2) == epochs_of(after(ps::from(source)), 2));
  CHECK(store->offered >= 2 * 96);
}

TEST_CASE("a reordered pipeline over blocks reads none of a full cache") {
  const Watchdog dog(60s);
  const Chunks source{.count = 120, .per_block = 8, .spanning = 7};
  const auto after = [](const ps::Pipeline& p) {
    return p | ps::shuffle() | ps::filter("x", [](ps::View<const std::uint64_t, 1> x) { return x(0) % 3 != 0; }) |
           ps::batch(10);
  };
  const std::vector<Got> wanted = epochs_of(after(ps::from(source)), 2);
  const ps::Pipeline p = after(ps::from(source) | ps::cache({.max_bytes = plenty}));
  CHECK(epochs_of(p, 2) == wanted);
  source.shared->loads.clear();
  CHECK(epochs_of(p, 2) == wanted);
  CHECK(source.decodes() == 0);
}

TEST_CASE("nobody is asked for advice on what is in a cache") {
  const Watchdog dog(60s);
  AdvisedRecords source;
  source.count = 100;
  const ps::Pipeline begin = ps::from(source) | Mix{} | ps::cache({.max_bytes = plenty});
  static_cast<void>(epochs_of(begin | ps::take(40) | ps::batch(8), 1));
  CHECK(source.shared->advised <= 40);
  source.shared->advice.clear();
  const std::vector<Got> got = epochs_of(begin | ps::shuffle() | ps::batch(8), 1);
  CHECK(got == epochs_of(ps::from(Records{.count = 100}) | Mix{} | ps::shuffle() | ps::batch(8), 1));
  for (const auto& [index, times] : source.shared->advice) CHECK(index >= 40);
  CHECK(source.shared->advice.size() > 30);
  source.shared->advised = 0;
  static_cast<void>(epochs_of(begin | ps::shuffle() | ps::batch(8), 3));
  CHECK(source.shared->advised == 0);
}

TEST_CASE("joined sources have a cache as any other") {
  const Watchdog dog(60s);
  const Records a{.count = 20}, b{.count = 9};
  const Chunks chunks{.count = 29, .per_block = 4};
  const std::vector<ps::AnySource> joins{
      ps::concat(a, b), ps::interleave(a, b),
      ps::zip({{ps::concat(a, b), "a_"}, {ps::share(chunks), "c_"}}, {.by = ps::PairBy::position})};
  for (std::size_t j = 0; j < joins.size(); ++j) {
    CAPTURE(j);
    const auto after = [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::batch(4); };
    const std::vector<Got> wanted = epochs_of(after(ps::from(joins[j])), 2);
    const ps::Pipeline p = after(ps::from(joins[j]) | ps::cache({.max_bytes = plenty}));
    CHECK(p.fingerprint() == after(ps::from(joins[j])).fingerprint());
    CHECK(epochs_of(p, 2) == wanted);
    a.shared->reads = b.shared->reads = 0;
    chunks.shared->loads.clear();
    CHECK(epochs_of(p, 2) == wanted);
    CHECK(a.shared->reads + b.shared->reads + chunks.decodes() == 0);
  }
  // A mixture draws the records of its parts again and again.
  const auto mixture = [&] { return ps::mix({{a, 0.7}, {b, 0.3}}, {.count = 50}); };
  const std::vector<Got> wanted = epochs_of(mixture() | Mix{} | ps::batch(4), 3);
  const Mix made;
  const ps::Pipeline p = mixture() | made | ps::cache({.max_bytes = plenty}) | ps::batch(4);
  CHECK(epochs_of(p, 3, 1) == wanted);
  CHECK(made.calls->most() == 1);
  CHECK(epochs_of(p, 3) == wanted);
}

TEST_CASE("batches on a device are the same with a cache") {
  const Watchdog dog(60s);
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode, .checked = true});
    const Mix made;
    const auto after = [](const ps::Pipeline& p) { return p | ps::shuffle() | AddDraw{} | ps::batch(6); };
    const std::vector<Got> wanted = epochs_of(after(ps::from(Records{.count = 50}) | Mix{}), 3);
    const ps::Pipeline p = after(ps::from(Records{.count = 50}) | made | ps::cache({.max_bytes = plenty}));
    for (int turn = 0; turn < 2; ++turn) {
      ps::Loader loader(p, {.device = gpu.device(), .threads = 2, .epochs = 3});
      CHECK(train(loader, gpu, 3) == wanted);
    }
    CHECK(made.calls->total() <= 100);
    made.calls->clear();
    ps::Loader loader(p, {.device = gpu.device(), .threads = 2, .epochs = 3});
    CHECK(train(loader, gpu, 3) == wanted);
    CHECK(made.calls->total() == 0);
    CHECK(gpu.findings().empty());
  }
}

TEST_CASE("rows of any size from a cache are packed for a device") {
  const Watchdog dog(60s);
  ps::EmulatedGpu gpu({.mode = Mode::late});
  const auto fetch = [&](const ps::Pipeline& p) {
    std::vector<std::vector<std::byte>> out;
    ps::EmulatedGpu::Stream stream = gpu.make_stream("fetch");
    ps::Loader loader(p, {.device = gpu.device(), .threads = 2, .epochs = 2});
    for (int e = 0; e < 2; ++e)
      for (const ps::Batch& b : loader.epoch(stream.ref())) {
        const auto copy_of = [&](const ps::TensorView& t) {
          std::vector<std::byte> bytes(t.bytes());
          if (!bytes.empty())
            stream.launch("copy", [&] { std::memcpy(bytes.data(), t.data, bytes.size()); },
                          {{t.data, bytes.size(), false}});
          stream.synchronize();
          out.push_back(std::move(bytes));
        };
        for (const char* field : {"rows", "made"}) {
          copy_of(b.packed(field).offsets);
          copy_of(b.packed(field).data);
        }
        copy_of(b["tokens"]);
      }
    return out;
  };
  const auto after = [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::batch(8); };
  const std::vector<std::vector<std::byte>> wanted = fetch(after(ps::from(EveryKind{}) | Make{}));
  const ps::Pipeline p = after(ps::from(EveryKind{}) | Make{} | ps::cache({.max_bytes = plenty}));
  CHECK(fetch(p) == wanted);
  CHECK(fetch(p) == wanted);
}

TEST_CASE("write stores the same samples with a cache and fills it") {
  const Watchdog dog(60s);
  const Mix made;
  const auto after = [](const ps::Pipeline& p) { return p | ps::shuffle({.seed = 3}) | AddDraw{} | Lengthen{}; };
  Disk wanted, disk, again;
  write_to(wanted, after(ps::from(Records{.count = 70}) | Mix{}));
  const ps::Pipeline p = after(ps::from(Records{.count = 70}) | made | ps::cache({.max_bytes = plenty}));
  write_to(disk, p);
  CHECK(disk.kept == wanted.kept);
  CHECK(made.calls->total() == 70);
  write_to(again, p);
  CHECK(again.kept == wanted.kept);
  CHECK(made.calls->total() == 70);
  Disk parts, cached_parts;
  write_to(parts, after(ps::from(Records{.count = 70}) | Mix{}) | Parts{} | odd_part());
  write_to(cached_parts, p | Parts{} | odd_part());
  CHECK(cached_parts.kept == parts.kept);
  CHECK(made.calls->total() == 70);
}

TEST_CASE("a single sample is the same with a cache") {
  const ps::Pipeline bare = ps::from(EveryKind{}) | Make{} | ps::shuffle() | Noise{};
  const ps::Pipeline p = ps::from(EveryKind{}) | Make{} | ps::cache({.max_bytes = plenty}) | ps::shuffle() | Noise{};
  for (int turn = 0; turn < 2; ++turn) {
    for (std::uint64_t position = 0; position < 60; ++position) {
      const ps::OwnedSample expected = bare.at(position, 2), got = p.at(position, 2);
      for (const ps::Field& field : p.schema()) {
        const ps::TensorView a = expected[field.name], b = got[field.name];
        REQUIRE(a.shape == b.shape);
        REQUIRE(std::memcmp(a.data, b.data, a.bytes()) == 0);
      }
    }
    static_cast<void>(epochs_of(p | ps::batch(8), 1));
  }
}

TEST_CASE("a cache is shared by all loaders and pipelines that were made from it and goes with the last") {
  const Watchdog dog(60s);
  struct Large {
    std::uint64_t size() const { return 100; }
    ps::Schema schema() const { return {{"x", ps::DType::u32, {50'000}}}; }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      for (std::uint32_t& v : out.emplace<std::uint32_t, 1>(0, {50'000})) v = static_cast<std::uint32_t>(i);
    }
  };
  // Each thread that worked has a heap of its own, which keeps pages that its runner gave back, the more threads there
  // were.
  const auto in_use = [] {
    ::malloc_trim(0);
    return static_cast<std::int64_t>(resident_bytes());
  };
  constexpr std::int64_t all = 100 * 200'000;
  const std::int64_t before = in_use();
  const auto calls = std::make_shared<Calls>();
  std::optional<ps::Pipeline> begin = ps::from(Large{}) | Mix{calls} | ps::cache({.max_bytes = plenty});
  std::optional<ps::Pipeline> one = *begin | ps::batch(10), two = *begin | ps::shuffle() | ps::batch(5);
  static_cast<void>(epochs_of(*one, 1));
  CHECK(calls->total() == 100);
  begin.reset();
  one.reset();
  static_cast<void>(epochs_of(*two, 2));
  CHECK(calls->total() == 100);
  std::optional<ps::Loader> loader;
  loader.emplace(*two, ps::LoaderOptions{.threads = 2, .epochs = 2});
  two.reset();
  CHECK(collect(*loader, 2).size() == 40);
  CHECK(calls->total() == 100);
  if (!sanitized()) CHECK(in_use() - before >= all);
  loader.reset();
  if (!sanitized()) CHECK(in_use() - before < all / 4);
}

TEST_CASE("loaders at once fill one cache") {
  const Watchdog dog(60s);
  const Mix made;
  const ps::Pipeline begin = ps::from(Records{.count = 400}) | made | ps::cache({.max_bytes = plenty});
  std::vector<std::thread> threads;
  std::atomic<unsigned> right{0};
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto after = [&](const ps::Pipeline& p) { return p | ps::shuffle({.seed = t}) | ps::batch(16); };
      const std::vector<Got> wanted = epochs_of(after(ps::from(Records{.count = 400}) | Mix{}), 3, 2);
      if (epochs_of(after(begin), 3, 2) == wanted) ++right;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 4);
  made.calls->clear();
  static_cast<void>(epochs_of(begin | ps::batch(16), 2));
  CHECK(made.calls->total() == 0);
}

TEST_CASE("many epochs over a cache take no more memory and no more descriptors") {
  const Watchdog dog(120s);
  const ps::Pipeline p =
      ps::from(EveryKind{}) | Make{} | ps::cache({.max_bytes = plenty}) | ps::shuffle() | ps::batch(9);
  const auto turn = [&] {
    ps::Loader loader(p, {.threads = 2, .epochs = 5});
    std::uint64_t rows = 0;
    for (int e = 0; e < 5; ++e)
      for (const ps::Batch& b : loader.epoch()) rows += b.size();
    CHECK(rows == 300);
  };
  for (int i = 0; i < 10; ++i) turn();
  const unsigned files = fd_count();
  const std::int64_t before = static_cast<std::int64_t>(::mallinfo2().uordblks);
  for (std::uint64_t i = 0; i < scaled(60, 5); ++i) turn();
  CHECK(fd_count() == files);
  if (!sanitized()) CHECK(static_cast<std::int64_t>(::mallinfo2().uordblks) - before < 200'000);
}

TEST_CASE("a cache is opened by what first asks for samples, once for a pipeline and its copies") {
  const Watchdog dog(60s);
  struct Empty final : ps::RecordCache {
    struct Reader final : ps::CacheReader {
      bool has(std::uint64_t) override { return false; }
      bool read(std::uint64_t, ps::SampleBuilder&) override { return false; }
    };
    bool has(std::uint64_t) const noexcept override { return false; }
    std::unique_ptr<ps::CacheReader> open_reader() override { return std::make_unique<Reader>(); }
    void offer(std::uint64_t, ps::Sample&) noexcept override {}
    std::vector<std::string> notes() const override { return {"it keeps nothing"}; }
  };
  struct Counting final : ps::CacheMaker {
    std::shared_ptr<ps::RecordCache> open(const ps::CacheKey&) const override {
      if (++opened <= failing) throw ps::Error(ps::Errc::io, "no room");
      return std::make_shared<Empty>();
    }
    std::string label() const override { return "cache(counted)"; }
    mutable std::atomic<int> opened{0};
    int failing = 0;
  };
  const auto over = [](const std::shared_ptr<Counting>& maker) {
    return ps::from(Records{.count = 40}) | Mix{} | ps::cache(maker) | ps::shuffle();
  };
  const std::vector<Got> wanted = epochs_of(ps::from(Records{.count = 40}) | Mix{} | ps::shuffle() | ps::batch(8), 2);
  SECTION("by a loader") {
    const auto maker = std::make_shared<Counting>();
    const ps::Pipeline p = over(maker) | ps::batch(8);
    CHECK(contains(p.plan(), "opened when a loader begins"));
    CHECK(maker->opened == 0);
    std::vector<std::jthread> threads;
    std::atomic<int> right{0};
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, copy = p] {
        if (epochs_of(copy, 2) == wanted) ++right;
      });
    threads.clear();
    CHECK(right == 4);
    CHECK(maker->opened == 1);
    CHECK(contains(p.plan(), "it keeps nothing"));
  }
  SECTION("by one sample") {
    const auto maker = std::make_shared<Counting>();
    static_cast<void>(over(maker).at(3));
    CHECK(maker->opened == 1);
  }
  SECTION("again where it failed, which the stage's name tells") {
    const auto maker = std::make_shared<Counting>();
    maker->failing = 2;
    const ps::Pipeline p = over(maker) | ps::batch(8);
    for (int i = 0; i < 2; ++i) {
      const std::optional<ps::Error> error = help::error_of([&] { const ps::Loader loader(p); });
      REQUIRE(error);
      CHECK(error->code() == ps::Errc::io);
      CHECK(contains(error->what(), "io in cache(counted): no room"));
    }
    CHECK(epochs_of(p, 2) == wanted);
    CHECK(maker->opened == 3);
  }
}
