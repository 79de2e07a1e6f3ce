// SPDX-License-Identifier: Apache-2.0
// Caches that don't hold everything, bad samples, and what is told of them.
#include "core/loader/cache_help.hpp"

#include <set>

using namespace help;

namespace {

constexpr std::size_t each = 64 + 64 + 64;  // bytes of a record of `Records`: its fields, and what is added for it

std::string notes_of(const ps::Loader& loader) { return joined(loader.report().notes); }

std::uint64_t samples_of(const ps::Report& report, std::string_view stage) {
  for (const ps::StageReport& s : report.stages)
    if (contains(s.name, stage)) return s.samples;
  FAIL("no stage " << stage << " in " << report.text());
  return 0;
}

}  // namespace

TEST_CASE("a cache keeps to its bytes and the results are the same") {
  const Watchdog dog(60s);
  constexpr std::uint64_t n = 200;
  for (const std::uint64_t room : {1u, 7u, 60u, 199u, 200u}) {
    CAPTURE(room);
    const Mix made;
    const auto after = [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::batch(16); };
    const std::vector<Got> wanted = epochs_of(after(ps::from(Records{.count = n}) | Mix{}), 3);
    const ps::Pipeline p =
        after(ps::from(Records{.count = n}) | made | ps::cache({.max_bytes = 8 * n + room * each + each / 2}));
    CHECK(epochs_of(p, 3, 4) == wanted);
    made.calls->clear();
    ps::Loader loader(p, {.threads = 3, .epochs = 2});
    CHECK(collect(loader, 2) == std::vector<Got>(wanted.begin(), wanted.begin() + 26));
    // Those that are not there are made in each epoch; as many are there as have room.
    CHECK(made.calls->total() == 2 * (n - room));
    const std::string notes = notes_of(loader);
    CAPTURE(notes);
    CHECK(contains(notes, "cache"));
    CHECK(contains(notes, std::to_string(room)));
    CHECK(contains(p.plan(), "cache"));
    CHECK((room == n || contains(notes, "full")));
  }
}

TEST_CASE("a cache of records of any size keeps to its bytes") {
  const Watchdog dog(60s);
  struct Sizes {
    std::uint64_t size() const { return 300; }
    ps::Schema schema() const { return {{"x", ps::DType::u8, {ps::dynamic}, ps::Collate::ragged()}}; }
    static std::int64_t of(std::uint64_t i) { return static_cast<std::int64_t>(i % 50 == 7 ? 0 : mix(i) % 900); }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      for (std::uint8_t& v : out.emplace<std::uint8_t, 1>(0, {of(i)})) v = static_cast<std::uint8_t>(i);
    }
  };
  const auto reads = std::make_shared<Calls>();
  struct Seen {
    std::shared_ptr<Calls> reads;
    std::string name() const { return "seen"; }
    std::uint64_t version() const { return 1; }
    void operator()(ps::Sample&, ps::Context& context) const { reads->add(context.index()); }
  };
  constexpr std::size_t bytes = 8 * 300 + 40'000;
  const ps::Pipeline p =
      ps::from(Sizes{}) | Seen{reads} | ps::cache({.max_bytes = bytes}) | ps::shuffle() | ps::batch(16);
  const std::vector<Got> wanted = epochs_of(ps::from(Sizes{}) | ps::shuffle() | ps::batch(16), 2);
  CHECK(epochs_of(p, 2, 4) == wanted);
  reads->clear();
  CHECK(epochs_of(p, 1, 4) == std::vector<Got>(wanted.begin(), wanted.begin() + 19));
  constexpr std::size_t head = (8 + sizeof(ps::Shape) + 63) / 64 * 64;
  std::size_t kept = 8 * 300;
  for (std::uint64_t i = 0; i < 300; ++i)
    if (!reads->of.contains(i)) kept += head + (static_cast<std::size_t>(Sizes::of(i)) + 63) / 64 * 64;
  CHECK(kept <= bytes);
  // Nothing that is left has room.
  for (const auto& [index, times] : reads->of)
    CHECK(kept + head + (static_cast<std::size_t>(Sizes::of(index)) + 63) / 64 * 64 > bytes);
}

TEST_CASE("bad samples are not kept and are bad again under each policy") {
  const Watchdog dog(120s);
  for (const bool in_source : {false, true})
    for (const ps::OnError policy : {ps::OnError::replace, ps::OnError::mask, ps::OnError::drop, ps::OnError::fail}) {
      CAPTURE(in_source, static_cast<int>(policy));
      const auto is_bad = [](std::uint64_t i) { return i % 9 == 4; };
      Records source{.count = 50};
      Mix made;
      struct Fails {
        std::function<bool(std::uint64_t)> bad;
        std::shared_ptr<Calls> calls;
        std::string name() const { return "fails"; }
        std::uint64_t version() const { return 1; }
        void operator()(ps::Sample&, ps::Context& context) const {
          calls->add(context.index());
          if (bad(context.index())) raise(Fault::corrupt);
        }
      };
      const Fails fails{[=](std::uint64_t i) { return !in_source && is_bad(i); }, std::make_shared<Calls>()};
      if (in_source)
        for (std::uint64_t i = 0; i < 50; ++i)
          if (is_bad(i)) source.shared->faults[i] = Fault::io;
      const auto build = [&](bool cache) {
        ps::Pipeline p = ps::from(source) | made | fails;
        if (cache) p = p | ps::cache({.max_bytes = plenty});
        return p | ps::shuffle() | ps::on_error({.policy = policy}) | ps::batch(8);
      };
      // What comes, and what ends it.
      const auto run = [&](const ps::Pipeline& p) {
        ps::Loader loader(p, {.threads = 3, .epochs = 3});
        std::pair<std::vector<Got>, std::vector<std::string>> out;
        for (int e = 0; e < 3; ++e) try {
            for (ps::Batch& b : loader.epoch()) out.first.push_back(copy(b));
          } catch (const ps::Error& error) {
            out.second.emplace_back(error.what());
          }
        out.second.push_back(std::to_string(loader.report().errors));
        return out;
      };
      const auto wanted = run(build(false));
      const ps::Pipeline p = build(true);
      CHECK(run(p) == wanted);
      source.shared->reads = 0;
      fails.calls->clear();
      CHECK(run(p) == wanted);
      if (policy != ps::OnError::fail) {  // an epoch that ends early has not seen all of them
        for (const auto& [index, times] : fails.calls->of) CHECK(is_bad(index));
        CHECK(source.shared->reads >= 3 * 6);
        CHECK(source.shared->reads <= 3 * 40);
        CHECK(fails.calls->of.empty() == in_source);
      }
    }
}

TEST_CASE("a record that was bad once is kept when it is good") {
  const Watchdog dog(60s);
  Records source{.count = 40};
  source.shared->faults[11] = Fault::io;
  const ps::Pipeline p =
      ps::from(source) | ps::cache({.max_bytes = plenty}) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(8);
  const std::vector<Got> first = epochs_of(p, 1);
  CHECK(first[1].mask[3] == 0);
  source.shared->faults.clear();
  const std::vector<Got> second = epochs_of(p, 1);
  CHECK(second ==
        epochs_of(ps::from(Records{.count = 40}) | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(8), 1));
  CHECK(source.shared->reads == 41);
  CHECK(epochs_of(p, 1) == second);
  CHECK(source.shared->reads == 41);
}

TEST_CASE("what fails after a cache does not keep the record out of it") {
  const Watchdog dog(60s);
  struct Fails {
    std::string name() const { return "fails after it"; }
    void operator()(ps::Sample&, ps::Context& context) const {
      if (context.index() % 4 == 1) raise(Fault::corrupt);
    }
  };
  const Mix made;
  const ps::Pipeline p = ps::from(Records{.count = 40}) | made | ps::cache({.max_bytes = plenty}) | Fails{} |
                         ps::on_error({.policy = ps::OnError::mask}) | ps::batch(8);
  const std::vector<Got> wanted = epochs_of(
      ps::from(Records{.count = 40}) | Mix{} | Fails{} | ps::on_error({.policy = ps::OnError::mask}) | ps::batch(8), 2);
  CHECK(epochs_of(p, 2) == wanted);
  CHECK(made.calls->total() == 40);
}

TEST_CASE("a stage after a cache changes no record that is in it") {
  const Watchdog dog(60s);
  struct Scribble {
    std::string name() const { return "scribble"; }
    void operator()(ps::Sample& sample, ps::Context& context) const {
      for (std::uint32_t& v : sample.view<std::uint32_t, 1>("made")) v = context.rng()();
      sample.view<std::int64_t, 0>("y")() = 0;
      for (std::uint8_t& v : sample.view<std::uint8_t, 2>("plane").flat()) v = 9;
    }
  };
  const ps::Pipeline begin = ps::from(EveryKind{}) | Make{} | ps::cache({.max_bytes = plenty});
  static_cast<void>(epochs_of(begin | Scribble{} | ps::batch(8), 3));
  CHECK(epochs_of(begin | ps::batch(8), 1) == epochs_of(ps::from(EveryKind{}) | Make{} | ps::batch(8), 1));
}

TEST_CASE("the report counts samples of stages before a cache as they were run") {
  const Watchdog dog(60s);
  const Mix made;
  const ps::Pipeline p =
      ps::from(Records{.count = 300}) | made | ps::cache({.max_bytes = plenty}) | AddDraw{} | ps::batch(10);
  const auto check = [&](std::uint64_t before, std::uint64_t epochs) {
    ps::Loader loader(p, {.threads = 2, .epochs = epochs});
    CHECK(collect(loader, epochs).size() == 30 * epochs);
    const ps::Report report = loader.report();
    CAPTURE(report.text());
    CHECK(samples_of(report, "mix") == before);
    CHECK(samples_of(report, "read") == before);
    CHECK(samples_of(report, "add_draw") == 300 * epochs);
    CHECK(report.samples == 300 * epochs);
    CHECK(contains(joined(report.notes), "300"));
    CHECK(report.json().find("cache") != std::string::npos);
  };
  check(300, 1);
  CHECK(made.calls->total() == 300);
  check(0, 2);
  CHECK(made.calls->total() == 300);
}

TEST_CASE("the report counts records before a cache as they were run, however many children they have") {
  const Watchdog dog(60s);
  const ps::Pipeline p = ps::from(Records{.count = 300}) | Mix{} | ps::cache({.max_bytes = plenty}) |
                         Parts{.before_child = {}, .most = 4} | ps::batch(10);
  for (const std::uint64_t made : {300u, 0u}) {
    ps::Loader loader(p, {.threads = 2, .epochs = 1});
    while (loader.next()) {
    }
    const ps::Report report = loader.report();
    CAPTURE(report.text());
    CHECK(samples_of(report, "mix") == made);
    CHECK(samples_of(report, "read") == made);
    CHECK(report.samples > 0);
  }
}

TEST_CASE("an epoch that is left early leaves what it made in a cache") {
  const Watchdog dog(60s);
  const Mix made;
  const auto after = [](const ps::Pipeline& p) { return p | ps::shuffle() | ps::batch(8); };
  const ps::Pipeline p = after(ps::from(Records{.count = 200}) | made | ps::cache({.max_bytes = plenty}));
  const std::vector<Got> wanted = epochs_of(after(ps::from(Records{.count = 200}) | Mix{}), 1);
  for (int turn = 0; turn < 12; ++turn) {
    ps::Loader loader(p, {.threads = 3, .epochs = 1});
    std::size_t at = 0;
    for (const ps::Batch& b : loader.epoch()) {
      CHECK(copy(b) == wanted[at]);
      if (++at == static_cast<std::size_t>(turn)) break;
    }
  }
  CHECK(made.calls->most() == 1);
  CHECK(epochs_of(p, 1) == wanted);
  CHECK(made.calls->most() == 1);
  CHECK(made.calls->total() == 200);
}
