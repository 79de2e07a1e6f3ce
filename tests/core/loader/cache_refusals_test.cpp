// SPDX-License-Identifier: Apache-2.0
// What may not stand before a cache, what may when it is asked for, and states with and without one.
#include "core/loader/cache_help.hpp"

#include "core/chain/fake_images.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

// Whole-sample callables without a version: one that draws nothing, one that draws.
struct Unversioned {
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::string name() const { return "unversioned"; }
  void operator()(ps::Sample& sample, ps::Context&) const { sample.view<std::int64_t, 0>("y")() += 5; }
};
struct DrawsInSecret {
  std::string name() const { return "draws_in_secret"; }
  std::uint64_t version() const { return 1; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    for (std::uint32_t& v : sample.view<std::uint32_t, 1>("x")) v += context.rng()();
  }
};
// A callable on one field that says that it draws.
struct SaysItDraws {
  bool draws() const { return true; }
  std::uint64_t version() const { return 1; }
  void operator()(ps::View<std::uint32_t, 1> x, ps::Context& context) const {
    for (std::uint32_t& v : x) v += context.rng()();
  }
};
struct Twice {
  std::uint64_t version() const { return 1; }
  void operator()(ps::View<std::uint32_t, 1> x) const {
    for (std::uint32_t& v : x) v *= 2;
  }
};
struct Turned {
  struct Params {};
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const { op.flip_horizontal(); }
  std::string name() const { return "turned"; }
  std::uint64_t version() const { return 1; }
};
// Has parameters and says that it draws none of them.
struct HalfTurned : Turned {
  struct Params {
    bool yes;
  };
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {true}; }
  void compose(const Params& p, const ps::ImageShape&, ps::ImageOp& op) const {
    if (p.yes) op.flip_horizontal();
  }
  bool draws() const { return false; }
};
struct RawImages {
  std::uint64_t count = 12;
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const auto bytes = fake::encode(4, 6, 3, [&](int k) { return static_cast<int>(i) * 5 + k; });
    const auto to = out.emplace<std::uint8_t, 1>(0, {static_cast<std::int64_t>(bytes.size())});
    std::copy(bytes.begin(), bytes.end(), to.begin());
  }
};

void refused(const std::function<ps::Pipeline()>& build, const std::string& said) {
  CAPTURE(said);
  const std::optional<ps::Error> error = error_of([&] { static_cast<void>(build()); });
  REQUIRE(error);
  CAPTURE(error->what());
  CHECK(error->code() == ps::Errc::invalid_argument);
  CHECK(contains(error->what(), said));
  CHECK(contains(error->what(), "cache"));
}

const ps::Pipeline& records() {
  static const ps::Pipeline p = ps::from(Records{.count = 40});
  return p;
}
ps::Stage room(ps::CacheAllows allows = {}) { return ps::cache({.max_bytes = plenty, .allows = allows}); }

}  // namespace

TEST_CASE("what may not stand before a cache is refused by name where the cache joins") {
  refused([] { return records() | ps::map("x", SaysItDraws{}, {.name = "dice", .version = 1}) | room(); }, "dice");
  refused([] { return records() | Unversioned{} | room(); }, "unversioned");
  refused([] { return records() | ps::map("x", [](ps::View<std::uint32_t, 1>) {}, {.name = "nameless"}) | room(); },
          "nameless");
  refused([] { return records() | even() | room(); }, "filter");
  refused([] { return records() | Parts{} | room(); }, "parts");
  refused([] { return records() | Mix{} | room() | ps::shuffle() | room(); }, "one");
  refused([] { return ps::from(Counting{}) | room(); }, "stream");
  refused([] { return records() | ps::batch(4) | room(); }, "batch");
  refused(
      [] {
        return ps::from(RawImages{}) | fake::decode("image") | fake::image_stage("image", fake::RandomFlip{}) | room();
      },
      "random_flip");
  for (const ps::CheckOptions& check : {ps::CheckOptions{.verify = true}, ps::CheckOptions{.max_sample_bytes = 90}})
    refused([&] { return records() | room() | ps::check(check); }, "check");
  static_cast<void>(records() | ps::check({.verify = true, .max_sample_bytes = 90}) | room());
  static_cast<void>(records() | room() | ps::check({.fold = false}));
  for (const std::size_t bytes : {0u, 1u, 40u * 8 - 1})
    refused([&] { return records() | ps::cache({.max_bytes = bytes}); }, "bytes");
}

TEST_CASE("what neither draws nor lacks a version may stand before a cache") {
  const Watchdog dog(60s);
  const auto same = [](const ps::Pipeline& bare, const ps::Stage& cache) {
    const std::vector<Got> wanted = epochs_of(bare | ps::shuffle() | ps::batch(6), 2);
    CHECK(epochs_of(bare | cache | ps::shuffle() | ps::batch(6), 2) == wanted);
  };
  same(records() | ps::map("x", Twice{}), room());
  same(records() | ps::map("x", [](ps::View<std::uint32_t, 1> x) { x(0) = 7; }, {.version = 4}), room());
  const ps::Pipeline images = ps::from(RawImages{}) | fake::decode("image");
  for (const ps::Stage& stage : {fake::image_stage("image", Turned{}), fake::image_stage("image", HalfTurned{})})
    for (const ps::Pipeline& p : {images | stage, images | stage | stage}) {
      CHECK(epochs_of(p | room() | ps::ragged("image") | ps::batch(5), 2) ==
            epochs_of(p | ps::ragged("image") | ps::batch(5), 2));
    }
}

TEST_CASE("images from a cache are cropped and flipped as those decoded") {
  const Watchdog dog(60s);
  const auto crops = [](const ps::Pipeline& p) {
    return p | ps::shuffle() | fake::image_stage("image", fake::RandomCrop{2, 3}) |
           fake::image_stage("image", fake::RandomFlip{}) | ps::batch(5);
  };
  const ps::Pipeline images = ps::from(RawImages{}) | fake::decode("image");
  const std::vector<Got> wanted = epochs_of(crops(images), 3);
  const ps::Pipeline encoded = crops(ps::from(RawImages{}) | room() | fake::decode("image"));
  const ps::Pipeline decoded = crops(images | room());
  CHECK(epochs_of(encoded, 3) == wanted);
  CHECK(epochs_of(decoded, 3) == wanted);
  CHECK(epochs_of(decoded, 3) == wanted);
  CHECK(decoded.fingerprint() == crops(images).fingerprint());
}

TEST_CASE("a callable that draws and did not say so ends the run by name") {
  const Watchdog dog(60s);
  for (const ps::OnError policy : {ps::OnError::fail, ps::OnError::replace, ps::OnError::mask, ps::OnError::drop}) {
    const ps::Pipeline p =
        records() | DrawsInSecret{} | room() | ps::on_error({.policy = policy}) | ps::shuffle() | ps::batch(6);
    const std::optional<ps::Error> error = error_of([&] { static_cast<void>(epochs_of(p, 1)); });
    REQUIRE(error);
    CAPTURE(error->what());
    CHECK(error->code() == ps::Errc::invalid_argument);
    CHECK(contains(error->what(), "draws_in_secret"));
  }
  // After a cache it may.
  static_cast<void>(epochs_of(records() | room() | DrawsInSecret{} | ps::batch(6), 2));
}

TEST_CASE("stages that draw before a cache draw once for each record where that is allowed") {
  const Watchdog dog(60s);
  const auto values = [](const ps::Pipeline& p, std::uint64_t epochs) {
    std::vector<std::map<std::uint64_t, std::vector<std::uint32_t>>> out(epochs);
    ps::Loader loader(p | ps::batch(7), {.threads = 3, .epochs = epochs});
    for (std::uint64_t e = 0; e < epochs; ++e)
      for (const ps::Batch& b : loader.epoch()) {
        const auto x = b.view<std::uint32_t, 2>("x");
        for (std::int64_t r = 0; r < x.extent(0); ++r)
          for (std::int64_t j = 0; j < x.extent(1); ++j)
            out[e][b.indices()[static_cast<std::size_t>(r)]].push_back(x(r, j));
      }
    return out;
  };
  const ps::CacheAllows random{.random = true};
  const ps::Pipeline drawn = records() | ps::map("x", SaysItDraws{}, {.name = "dice", .version = 1});
  const ps::Pipeline p = drawn | room(random);
  const auto first = values(p | ps::shuffle(), 3);
  CHECK(first[0] == first[1]);
  CHECK(first[0] == first[2]);
  CHECK(first[0].size() == 40);
  // The draw is the index's, in any order, at any number of threads and in any other cache.
  CHECK(values(drawn | room(random) | ps::shuffle({.blocks = true, .block_size = 4}), 1)[0] == first[0]);
  // All epochs have the draws that epoch 0 has without a cache.
  CHECK(values(drawn, 2)[0] == first[0]);
  CHECK(values(drawn, 2)[1] != first[0]);
  // Another seed, other draws.
  CHECK(values(records() | ps::seed(5) | ps::map("x", SaysItDraws{}, {.name = "dice", .version = 1}) | room(random),
               1)[0] != first[0]);
  CHECK((p | ps::batch(7)).fingerprint() != (drawn | ps::batch(7)).fingerprint());
  const auto secret = values(records() | DrawsInSecret{} | room(random), 2);
  CHECK(secret[0] == secret[1]);
  // Where nothing draws it changes nothing.
  CHECK(values(records() | Mix{} | room(random) | ps::shuffle(), 2) == values(records() | Mix{} | ps::shuffle(), 2));
  const std::optional<ps::Error> late = error_of([&] { static_cast<void>(p | ps::seed(5)); });
  REQUIRE(late);
  CAPTURE(late->what());
  CHECK(late->code() == ps::Errc::invalid_argument);
  CHECK(contains(late->what(), "seed"));
  // Without draws before it a seed may be said after a cache.
  CHECK((records() | Mix{} | room() | ps::seed(5)).seed() == 5);
}

TEST_CASE("callables without a version may stand before a cache where that is allowed") {
  const Watchdog dog(60s);
  const ps::CacheAllows unversioned{.unversioned = true};
  const ps::Pipeline p = records() | Unversioned{} | room(unversioned) | ps::shuffle() | ps::batch(6);
  const ps::Pipeline bare = records() | Unversioned{} | ps::shuffle() | ps::batch(6);
  CHECK(epochs_of(p, 2) == epochs_of(bare, 2));
  CHECK(p.fingerprint() == bare.fingerprint());
  refused([&] { return records() | ps::map("x", SaysItDraws{}, {.name = "dice", .version = 1}) | room(unversioned); },
          "dice");
  refused([&] { return records() | Unversioned{} | room({.random = true}); }, "unversioned");
}

TEST_CASE("states are the same with and without a cache and each resumes the other") {
  const Watchdog dog(120s);
  struct Build {
    const char* name;
    std::function<ps::Pipeline(bool)> pipeline;
  };
  const auto cached = [](const ps::Pipeline& p, bool cache) { return cache ? p | room() : p; };
  for (const Build& build :
       {Build{"dense", [&](bool c) { return cached(records() | Mix{}, c) | ps::shuffle() | AddDraw{} | ps::batch(6); }},
        Build{"reordered",
              [&](bool c) {
                return cached(records() | Mix{}, c) | ps::shuffle() | even() | Parts{} | AddDraw{} | ps::batch(6);
              }},
        Build{"blocks", [&](bool c) {
                return cached(ps::from(Records{.count = 37}) | ps::repeat(2), c) | AddDraw{} | ps::batch(5);
              }}}) {
    CAPTURE(build.name);
    const ps::Pipeline bare = build.pipeline(false), with = build.pipeline(true);
    const std::vector<Got> whole = epochs_of(bare, 3);
    for (const auto& [first, second] : {std::pair{bare, with}, std::pair{with, bare}, std::pair{with, with}})
      for (const std::size_t steps : {1u, 4u, 7u, 11u}) {
        ps::Loader before(first, {.threads = 2, .epochs = 3});
        std::vector<Got> got;
        while (got.size() < steps)
          if (auto b = before.next()) got.push_back(copy(*b));
        ps::Loader after(second, {.threads = 3, .epochs = 3});
        after.resume(before.state());
        while (got.size() < whole.size())
          if (auto b = after.next()) got.push_back(copy(*b));
        REQUIRE(got == whole);
      }
  }
}

TEST_CASE("one cache stage in two pipelines is two caches") {
  const Watchdog dog(60s);
  const ps::Stage stage = room();
  const auto x_of_first = [](const ps::Pipeline& p) { return epochs_of(p | ps::batch(6), 2); };
  const ps::Pipeline a = records() | Mix{} | stage, b = ps::from(Records{.count = 40, .width = 7}) | stage;
  CHECK(x_of_first(a) == x_of_first(records() | Mix{}));
  CHECK(x_of_first(b) == x_of_first(ps::from(Records{.count = 40, .width = 7})));
  CHECK(x_of_first(records() | stage) == x_of_first(records()));
}

}  // namespace PENSTOCK_TEST_FILE
