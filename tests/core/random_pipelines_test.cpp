// Thousands of random pipelines through the engine and through the model; every batch's bytes, indices and mask and
// every error must agree. PENSTOCK_SEED starts elsewhere; a failure prints the seed of its pipeline.
#include "support/catch.hpp"

#include <cstdio>
#include <set>

#include "fake_images.hpp"
#include "help.hpp"
#include "random_run.hpp"
#include "random_spec.hpp"

using namespace help;
using model::u64;

namespace {

[[noreturn]] void raise(model::Fault fault) {
  help::raise(fault == model::Fault::fatal ? Fault::fatal : static_cast<Fault>(fault));
}
void check(const std::map<u64, model::Fault>& faults, u64 index) {
  if (const auto f = faults.find(index); f != faults.end()) raise(f->second);
}

struct Source {
  std::shared_ptr<const model::Spec> spec;
  bool delays;
  u64 size() const { return spec->records; }
  ps::Schema schema() const {
    return {{"a", ps::DType::u32, {static_cast<std::int64_t>(spec->width)}},
            {"b", ps::DType::i64, {}},
            {"img", ps::DType::u8, {ps::dynamic, ps::dynamic, 3}}};
  }
  std::string key(u64 i) const { return "k" + std::to_string(i); }
  void read(u64 i, ps::SampleBuilder& out) const { read(i, out, nullptr); }
  // `a` may lie in a block.
  void read(u64 i, ps::SampleBuilder& out, const std::byte* a) const {
    if (delays &&
        model::mix(i + static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count())) % 32 == 0)
      std::this_thread::sleep_for(30us);
    u64 j = 0;
    if (a != nullptr)
      out.view("a", a, {static_cast<std::int64_t>(spec->width)});
    else
      for (std::uint32_t& v : out.emplace<std::uint32_t, 1>("a", {static_cast<std::int64_t>(spec->width)}))
        v = model::a_of(i, j++);
    check(spec->faults, i);
    // As an LMDB's value would be: lying somewhere else, not to be written to.
    static const std::vector<std::int64_t> labels = [] {
      std::vector<std::int64_t> l(4096);
      for (std::size_t k = 0; k < l.size(); ++k) l[k] = static_cast<std::int64_t>(k * 5);
      return l;
    }();
    out.view("b", reinterpret_cast<const std::byte*>(&labels[i]), {});
    j = 0;
    for (std::uint8_t& v : out.emplace<std::uint8_t, 3>(
             "img", {static_cast<std::int64_t>(model::height_of(i)), static_cast<std::int64_t>(model::width_of(i)), 3}))
      v = model::pixel_of(i, j++);
  }
};

// The same records, some of each in a block. Every fourth needs the next block too.
struct Blocked {
  Source source;
  u64 size() const { return source.size(); }
  ps::Schema schema() const { return source.schema(); }
  std::string key(u64 i) const { return source.key(i); }
  u64 per_block() const { return source.spec->per_block; }
  u64 row_bytes() const { return source.spec->width * 4; }
  u64 blocks() const { return (size() + per_block() - 1) / per_block(); }
  u64 block_bytes(u64) const { return per_block() * row_bytes(); }
  void blocks_of(u64 i, std::vector<u64>& ids) const {
    ids.push_back(i / per_block());
    if (i % 4 == 0 && i / per_block() + 1 < blocks()) ids.push_back(i / per_block() + 1);
  }
  void load(u64 b, std::span<std::byte> bytes) const {
    if (source.delays && b % 3 == 0) std::this_thread::sleep_for(20us);
    for (u64 k = 0; k < bytes.size() / 4; ++k) {
      const std::uint32_t v = model::a_of(b * per_block() + k / source.spec->width, k % source.spec->width);
      std::memcpy(bytes.data() + 4 * k, &v, 4);
    }
  }
  void read(u64 i, std::span<const std::span<const std::byte>> blocks, ps::SampleBuilder& out) const {
    source.read(i, out, blocks[0].data() + i % per_block() * row_bytes());
  }
};

// The same records, in order only. Half of them can seek.
struct Stream {
  Source source;
  u64 at = 0;
  ps::Schema schema() const { return source.schema(); }
  void reset(u64) { at = 0; }
  bool next(ps::SampleBuilder& out) {
    if (at == source.size()) return false;
    source.read(at++, out);
    return true;
  }
};
struct SeekingStream : Stream {
  void seek(u64 record) { at = record; }
};

struct Children {
  model::Stage stage;
  ps::Schema schema(const ps::Schema& in) const {
    if (stage.m == 0) return in;
    return in.with({"a", ps::DType::u32, {static_cast<std::int64_t>(stage.m)}}).with({stage.out, ps::DType::u32, {2}});
  }
  std::string name() const { return stage.name; }
  std::uint32_t count(const ps::Sample&, ps::Context& context) const {
    if (context.index() % 2 == 0) check(stage.faults, context.index());
    return static_cast<std::uint32_t>(context.rng().below(stage.n + 1));
  }
  void child(const ps::Sample& parent, std::uint32_t number, ps::Sample& out, ps::Context& context) const {
    if (number % 2 == 1 && context.index() % 2 == 1) check(stage.faults, context.index());
    if (stage.m == 0) {
      for (std::uint32_t& v : out.view<std::uint32_t, 1>("a")) v += number;
      return;
    }
    const auto old = parent.view<const std::uint32_t, 1>("a");
    auto a = out.emplace<std::uint32_t, 1>("a", {static_cast<std::int64_t>(stage.m)});
    for (std::int64_t i = 0; i < a.extent(0); ++i) a(i) = (old(i % old.extent(0)) ^ context.rng()()) + number;
    auto c = out.emplace<std::uint32_t, 1>(stage.out, {2});
    c(0) = context.rng()();
    c(1) = number;
  }
};

struct Vary {
  model::Stage stage;
  ps::Schema schema(const ps::Schema& in) const {
    if (stage.m == 0) return in.with({stage.out, ps::DType::u32, {ps::dynamic}});
    return in.with({stage.out, ps::DType::u32, {ps::dynamic, static_cast<std::int64_t>(stage.m)}});
  }
  std::string name() const { return stage.name; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    check(stage.faults, context.index());
    const auto n = static_cast<std::int64_t>(context.rng().below(stage.n + 1)), m = static_cast<std::int64_t>(stage.m);
    const auto fill = [&](auto view) {
      for (std::uint32_t& v : view) v = context.rng()();
    };
    if (m == 0)
      fill(sample.emplace<std::uint32_t, 1>(stage.out, {n}));
    else
      fill(sample.emplace<std::uint32_t, 2>(stage.out, {n, m}));
  }
};

struct Whole {
  model::Stage stage;
  ps::Schema schema(const ps::Schema& in) const {
    ps::Schema out = in;
    if (stage.m != 0)
      out =
          out.with({"a", ps::DType::u32, {static_cast<std::int64_t>(stage.m)}}).with({stage.out, ps::DType::u32, {2}});
    return stage.drops ? out.without("b") : out;
  }
  std::string name() const { return stage.name; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    check(stage.faults, context.index());
    const auto old = sample.view<const std::uint32_t, 1>("a");
    const std::int64_t n = stage.m != 0 ? static_cast<std::int64_t>(stage.m) : old.extent(0);
    auto a = sample.emplace<std::uint32_t, 1>("a", {n});
    for (std::int64_t i = 0; i < n; ++i) a(i) = old(old.extent(0) - 1 - i % old.extent(0)) ^ context.rng()();
    if (stage.m != 0) {
      auto d = sample.emplace<std::uint32_t, 1>(stage.out, {2});
      d(0) = context.rng()();
      d(1) = static_cast<std::uint32_t>(context.index());
    }
  }
};

ps::Pipeline join(const ps::Pipeline& p, const model::Stage& s) {
  using enum model::Kind;
  switch (s.kind) {
    case shuffle:
      return p | ps::shuffle({.window = s.n});
    case filter:
      return p | ps::filter(
                     [s](const ps::Sample&, ps::Context& context) {
                       check(s.faults, context.index());
                       return context.rng().below(100) < s.n;
                     },
                     {.name = s.name});
    case filter_field:
      return p | ps::filter(s.field,
                            [n = s.n](ps::View<const std::int64_t, 0> b) { return static_cast<u64>(b()) % 100 < n; },
                            {.name = s.name});
    case flat_map:
      return p | Children{s};
    case take:
      return p | ps::take(s.n);
    case skip:
      return p | ps::skip(s.n);
    case select:
      return p | ps::select(s.list);
    case repeat:
      return p | ps::repeat(s.n);
    case split:
      return p | ps::split({.shares = s.shares,
                            .part = s.n,
                            .by = s.by_key ? ps::SplitOptions::By::key : ps::SplitOptions::By::index,
                            .salt = s.m});
    case in_place:
      if (s.field == "a")
        return p | ps::map("a",
                           [f = s.faults](ps::View<std::uint32_t, 1> a, ps::Context& context) {
                             for (std::uint32_t& v : a)
                               v = v * 3 + 1 + static_cast<std::uint32_t>(context.rng().below(1000));
                             check(f, context.index());
                           },
                           {.name = s.name});
      return p | ps::map("b",
                         [f = s.faults](ps::View<std::int64_t, 0> b, ps::Context& context) {
                           check(f, context.index());
                           b() += static_cast<std::int64_t>(context.rng().below(77));
                         },
                         {.name = s.name});
    case new_field:
      return p | ps::map("a",
                         [f = s.faults](ps::View<const std::uint32_t, 1> in, ps::View<double, 1> out,
                                        ps::Context& context) {
                           for (std::int64_t i = 0; i < in.extent(0); ++i)
                             out(i) = static_cast<double>(in(i)) * 0.5 + context.rng().uniform();
                           check(f, context.index());
                         },
                         {.name = s.name, .out = s.out});
    case whole:
      return p | Whole{s};
    case vary:
      return p | Vary{s};
    case select_fields:
      return p | ps::select_fields(s.names);
    case crop:
      return p | fake::image_stage("img", fake::RandomCrop{static_cast<int>(s.n), static_cast<int>(s.m)});
    case flip:
      return p | fake::image_stage("img", fake::RandomFlip{});
    case turn:
      return p | fake::image_stage("img", fake::RandomTurn{});
    case count:
      break;
  }
  std::abort();
}

}  // namespace

namespace random_run {

ps::Pipeline build(const std::shared_ptr<const model::Spec>& spec, bool delays, bool fold) {
  ps::Pipeline p = (spec->per_block != 0  ? ps::from(Blocked{{spec, delays}})
                    : !spec->stream       ? ps::from(Source{spec, delays})
                    : spec->seed % 2 == 0 ? ps::from(Stream{{spec, delays}})
                                          : ps::from(SeekingStream{{{spec, delays}}})) |
                   ps::seed(spec->seed);
  for (const model::Stage& s : spec->stages) p = join(p, s);
  for (const auto& [field, c] : spec->collates)
    p = p | (c.pads ? ps::pad(field, {.to = static_cast<std::int64_t>(c.to), .value = c.value}) : ps::ragged(field));
  if (!spec->bucket.empty()) p = p | ps::bucket(spec->bucket, {.window = spec->window});
  return p | ps::on_error({.policy = static_cast<ps::OnError>(spec->policy), .max_count = spec->max_count}) |
         ps::check({.fold = fold}) |
         ps::batch(spec->rows, {.tail = static_cast<ps::Tail>(spec->tail),
                                .most_bytes = spec->most_bytes,
                                .tokens = spec->tokens,
                                .most_tokens = spec->most_tokens});
}

// What a loader brings until `most` events came, or `epochs` are over.
void play(ps::Loader& loader, u64 epochs, std::size_t most, std::vector<model::Event>& events) {
  while (loader.epoch_number() < epochs && events.size() < most) {
    const u64 epoch = loader.epoch_number();
    try {
      for (ps::Batch& b : loader.epoch()) {
        model::Event e;
        e.epoch = b.epoch();
        e.number = b.number();
        e.indices.assign(b.indices().begin(), b.indices().end());
        e.mask.assign(b.mask().begin(), b.mask().end());
        std::vector<std::byte> bytes;
        for (const ps::Field& f : b.schema()) append_field(b, f, bytes);
        const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
        e.bytes.assign(data, data + bytes.size());
        events.push_back(std::move(e));
        if (events.size() == most) return;
      }
    } catch (const ps::Error& error) {
      model::Event e;
      e.failed = true;
      e.epoch = epoch;
      e.number = loader.state().number;
      e.code = ps::to_string(error.code());
      e.stage = error.stage();
      e.cause = error.code() == ps::Errc::quota_exceeded ? "" : error.cause();
      if (const auto at = e.cause.find("; the 8 records drawn to replace it failed too"); at != std::string::npos)
        e.cause.replace(at, std::string::npos, " (so did its stand-ins)");
      for (const auto& [says, means] : {std::pair{"and is padded to", "too long"}, {"fits no batch of", "too large"}})
        if (e.cause.find(says) != std::string::npos)
          e.cause = means + std::string(e.cause.ends_with(" (so did its stand-ins)") ? " (so did its stand-ins)" : "");
      e.index = error.index().value_or(~u64{0});
      events.push_back(std::move(e));
    }
  }
}

std::string text(const model::Event& e) {
  std::string out = std::to_string(e.epoch) + ":" + std::to_string(e.number) + " ";
  if (e.failed) return out + e.code + " in " + e.stage + ", index " + std::to_string(e.index) + ": " + e.cause;
  for (std::size_t i = 0; i < e.indices.size(); ++i)
    out += std::to_string(static_cast<std::int64_t>(e.indices[i])) + (e.mask[i] != 0 ? " " : "! ");
  u64 hash = 0;
  for (const std::uint8_t b : e.bytes) hash = mix(hash + b);
  return out + "(" + std::to_string(e.bytes.size()) + " bytes, " + std::to_string(hash) + ")";
}

const ps::Executor& executor(unsigned threads) {
  static const std::map<unsigned, ps::Executor> all = [] {
    std::map<unsigned, ps::Executor> m;
    for (const unsigned t : {1u, 2u, 3u, 5u}) m.emplace(t, ps::Executor(t));
    return m;
  }();
  return all.at(threads);
}

}  // namespace random_run

using namespace random_run;

TEST_CASE("random pipelines bring what the model says") {
  const Watchdog dog(600s, "a random pipeline");
  const char* given = std::getenv("PENSTOCK_SEED");
  const u64 base = given != nullptr ? std::strtoull(given, nullptr, 10) : 20260000;
  const u64 runs = given != nullptr && std::getenv("PENSTOCK_RUNS") == nullptr ? 1 : scaled(5000, 50);
  const char* more = std::getenv("PENSTOCK_RUNS");
  const u64 count = more != nullptr ? std::strtoull(more, nullptr, 10) : runs;
  constexpr unsigned thread_counts[] = {1, 2, 3, 5};
  std::map<model::Kind, u64> histogram;
  std::array<u64, 4> policies{};
  std::array<u64, 3> tails{};
  u64 blocked = 0, ragged = 0, padded = 0, longest = 0, buckets = 0, by_tokens = 0, by_bytes = 0;
  u64 streams = 0, settled = 0, faulty = 0, failures = 0, acted_on = 0, resumed = 0, batches = 0;
  for (u64 seed = base; seed < base + count; ++seed) {
    const auto spec = std::make_shared<const model::Spec>(model::random_spec(seed));
    for (const model::Kind kind : [&] {
           std::set<model::Kind> kinds;
           for (const model::Stage& s : spec->stages) kinds.insert(s.kind);
           return kinds;
         }())
      ++histogram[kind];
    const u64 epochs = 1 + mix(seed) % 3;
    u64 acted = 0;
    const std::vector<model::Event> expected = model::run(*spec, epochs, acted);
    const bool has_faults = !spec->faults.empty() ||
                            std::ranges::any_of(spec->stages, [](const model::Stage& s) { return !s.faults.empty(); });
    faulty += has_faults;
    streams += spec->stream;
    settled += model::settled(*spec);
    const auto any = [&](auto f) {
      return std::ranges::any_of(spec->collates, [f](const auto& c) { return f(c.second); });
    };
    ragged += any([](const model::Collate& c) { return !c.pads; });
    padded += any([](const model::Collate& c) { return c.pads && c.to != 0; });
    longest += any([](const model::Collate& c) { return c.pads && c.to == 0; });
    buckets += !spec->bucket.empty();
    blocked += spec->per_block != 0;
    by_tokens += spec->most_tokens != 0;
    by_bytes += spec->most_bytes != 0;
    ++policies[static_cast<std::size_t>(spec->policy)];
    ++tails[static_cast<std::size_t>(spec->tail)];
    acted_on += acted;
    batches += expected.size();

    const ps::Pipeline p = build(spec, mix(seed + 1) % 2 == 0, mix(seed + 2) % 4 != 0);
    const auto options = [&](u64 salt) {
      ps::LoaderOptions o;
      o.executor = executor(thread_counts[mix(seed + salt) % 4]);
      o.depth = static_cast<unsigned>(mix(seed + salt + 1) % 7);
      if (mix(seed + salt + 4) % 2 == 0)
        o.block_bytes = (2 + mix(seed + salt + 5) % 5) * spec->per_block * spec->width * 4;
      o.settle_bytes = mix(seed + salt + 2) % 3 == 0 ? mix(seed + salt + 3) % 20'000 : 0;
      return o;
    };
    std::vector<model::Event> got;
    ps::Loader loader(p, options(10));
    REQUIRE(p.size() == model::size_of(*spec));
    u64 final_acted = 0;
    if (mix(seed + 3) % 2 == 0) {
      // Broken off at a random step and gone on with by another loader, with other threads and another depth.
      ++resumed;
      play(loader, epochs, mix(seed + 4) % (expected.size() + 1), got);
      ps::Loader rest(p, options(20));
      rest.resume(loader.state());
      // A state saved behind an error names the batch that failed: it fails again.
      if (!got.empty() && got.back().failed) got.pop_back();
      play(rest, epochs, ~std::size_t{0}, got);
      final_acted = rest.state().replaced;
    } else {
      play(loader, epochs, ~std::size_t{0}, got);
      final_acted = loader.state().replaced;
    }
    for (std::size_t i = 0; i < std::max(got.size(), expected.size()); ++i) {
      if (i < got.size() && i < expected.size() && got[i] == expected[i]) continue;
      FAIL("PENSTOCK_SEED=" << seed << "\n  " << model::describe(*spec) << "\n  event " << i << "\n  model  "
                            << (i < expected.size() ? text(expected[i]) : "-") << "\n  engine "
                            << (i < got.size() ? text(got[i]) : "-"));
    }
    if (final_acted != acted)
      FAIL("PENSTOCK_SEED=" << seed << "\n  " << model::describe(*spec) << "\n  the policy acted on " << final_acted
                            << " samples, the model's on " << acted);
    for (const model::Event& e : expected) failures += e.failed;
  }
  std::printf(
      "%llu pipelines, %llu batches, %llu with planted faults, %llu errors thrown, %llu samples acted on, %llu "
      "resumed\n",
      static_cast<unsigned long long>(count), static_cast<unsigned long long>(batches),
      static_cast<unsigned long long>(faulty), static_cast<unsigned long long>(failures),
      static_cast<unsigned long long>(acted_on), static_cast<unsigned long long>(resumed));
  for (std::size_t k = 0; k < static_cast<std::size_t>(model::Kind::count); ++k) {
    const double share =
        100.0 * static_cast<double>(histogram[static_cast<model::Kind>(k)]) / static_cast<double>(count);
    std::printf("  %5.1f %%  %s\n", share, model::name_of(static_cast<model::Kind>(k)));
    if (count >= 1000) CHECK(share >= 2);
  }
  const auto percent = [count](u64 n) { return 100.0 * static_cast<double>(n) / static_cast<double>(count); };
  std::printf(
      "  settled %.1f %%, of streams %.1f %%\n  policies fail %.1f %%, replace %.1f %%, mask %.1f %%, drop %.1f %%\n"
      "  tails keep %.1f %%, drop %.1f %%, pad %.1f %%\n",
      percent(settled), percent(streams), percent(policies[0]), percent(policies[1]), percent(policies[2]),
      percent(policies[3]), percent(tails[0]), percent(tails[1]), percent(tails[2]));
  std::printf(
      "  of blocks %.1f %%\n  ragged %.1f %%, padded %.1f %%, padded to the longest %.1f %%\n  buckets %.1f %%, "
      "bounded by tokens %.1f %%, "
      "by bytes %.1f %%\n",
      percent(blocked), percent(ragged), percent(padded), percent(longest), percent(buckets), percent(by_tokens),
      percent(by_bytes));
  if (count >= 1000) {
    for (const u64 n : {blocked, ragged, padded, longest, buckets, by_tokens, by_bytes}) CHECK(percent(n) >= 2);
    CHECK(settled * 100 >= count * 40);
    CHECK(streams * 100 >= count * 8);
    CHECK(faulty * 100 >= count * 48);
    CHECK(resumed * 100 >= count * 45);
    CHECK(failures > 0);
    CHECK(acted_on > 0);
  }
}
