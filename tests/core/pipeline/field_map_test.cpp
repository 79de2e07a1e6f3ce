// SPDX-License-Identifier: Apache-2.0
// Maps whose result's shape only the sample tells, or that take fields of several types; and which fields there are.
#include "support/catch.hpp"

#include <numeric>

#include "core/chain/fake_images.hpp"
#include "core/help.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace help;

namespace {

// wave: f32[?] of 10 + i % 5 elements i, i + 1, …; label: i64[].
struct Waves {
  std::uint64_t size() const { return 12; }
  ps::Schema schema() const { return {{"wave", ps::DType::f32, {ps::dynamic}}, {"label", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    auto wave = out.emplace<float, 1>("wave", {length(i)});
    std::iota(wave.begin(), wave.end(), static_cast<float>(i));
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i));
  }
  static std::int64_t length(std::uint64_t i) { return 10 + static_cast<std::int64_t>(i % 5); }
};

// Windows of 4 elements, every 2.
constexpr auto frames = [](std::int64_t length) { return (length - 4) / 2 + 1; };
const auto windows = [](ps::View<const float, 1> in, ps::Output<float, 2>& out) {
  auto to = out.emplace({frames(in.extent(0)), 4});
  for (std::int64_t f = 0; f < to.extent(0); ++f)
    for (std::int64_t k = 0; k < 4; ++k) to(f, k) = in(2 * f + k);
};

bool has_windows(ps::View<const float, 2> made, std::uint64_t i) {
  bool right = made.extent(0) == frames(Waves::length(i)) && made.extent(1) == 4;
  for (std::int64_t f = 0; right && f < made.extent(0); ++f)
    for (std::int64_t k = 0; k < 4; ++k) right &= made(f, k) == static_cast<float>(i) + static_cast<float>(2 * f + k);
  return right;
}

std::string refused(const ps::Pipeline& pipeline, const ps::Stage& stage) {
  const auto error = error_of([&] { (void)(pipeline | stage); });
  return error ? std::string(ps::to_string(error->code())) + " " + error->stage() + ": " + error->cause() : "accepted";
}
bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Doubles numbers of any type.
struct Twice {
  ps::TensorType result(const ps::TensorType& in) const {
    if (in.dtype != ps::DType::f32 && in.dtype != ps::DType::i64)
      throw ps::Error(ps::Errc::schema_mismatch, "only f32 and i64 are doubled");
    return in;
  }
  void operator()(const ps::TensorView& in, const ps::TensorView& out) const {
    const auto twice = [&]<class T>(T) {
      const auto* from = reinterpret_cast<const T*>(in.data);
      std::transform(from, from + in.shape.elements(), reinterpret_cast<T*>(out.data), [](T v) { return 2 * v; });
    };
    if (in.dtype == ps::DType::f32)
      twice(float{});
    else
      twice(std::int64_t{});
  }
};

}  // namespace

TEST_CASE("a map decides the shape of each sample's result") {
  const ps::Pipeline p = ps::from(Waves{}) | ps::map("wave", windows, {.name = "windows", .out = "windows"});
  CHECK(p.schema().to_string() == "{wave: f32[?], label: i64[], windows: f32[?, ?]}");
  for (const std::uint64_t i : {0, 3, 11}) CHECK(has_windows(p.at(i)["windows"].as<const float, 2>(), i));
  const ps::Pipeline ragged = p | ps::drop_fields({"wave"}) | ps::shuffle() | ps::ragged("windows") | ps::batch(5);
  ps::Loader loader(ragged, {.threads = 2, .epochs = 1});
  std::uint64_t seen = 0;
  for (ps::Batch& batch : loader.epoch()) {
    const ps::RaggedRows rows = batch.ragged("windows");
    for (std::uint64_t r = 0; r < batch.size(); ++r, ++seen)
      CHECK(has_windows(rows.view<const float, 2>(r), batch.indices()[r]));
  }
  CHECK(seen == 12);
  CHECK(loader.report().copied_bytes == 0);  // in their places, which are told when the shapes are
}

TEST_CASE("a map that decides the shape may know a part of it, and stages may make it fixed") {
  const ps::Pipeline known = ps::from(Waves{}) | ps::map("wave", windows, {.shape = ps::Shape{ps::dynamic, 4}});
  CHECK(known.schema().to_string() == "{wave: f32[?, 4], label: i64[]}");
  const ps::Pipeline padded = known | ps::pad("wave", {.to = 6, .value = -1}) | ps::batch(4);
  ps::Loader loader(padded, {.threads = 2});
  for (ps::Batch& batch : loader.epoch()) {
    const auto rows = batch.view<const float, 3>("wave");
    for (std::uint64_t r = 0; r < batch.size(); ++r) {
      const std::int64_t length = frames(Waves::length(batch.indices()[r]));
      CHECK(batch.lengths("wave")[r] == length);
      CHECK(rows(r, length - 1, 3) >= 0);
      for (std::int64_t f = length; f < 6; ++f) CHECK(rows(r, f, 0) == -1);
    }
  }
  const ps::Pipeline fixed =
      known |
      ps::map("wave", [](ps::View<const float, 2> in, ps::View<float, 0> out) { out() = in(0, 0); },
              {.shape = ps::Shape{}}) |
      ps::batch(12);
  ps::Loader first(fixed);
  for (ps::Batch& batch : first.epoch()) CHECK(batch.view<float, 1>("wave")(7) == 7);
  // In front of a filter each result waits for its row.
  const ps::Pipeline reordered = known |
                                 ps::filter("label", [](ps::View<const std::int64_t, 0> l) { return l() % 2 == 1; }) |
                                 ps::ragged("wave") | ps::batch(2);
  ps::Loader odd(reordered, {.threads = 2});
  std::uint64_t rows = 0;
  for (ps::Batch& batch : odd.epoch())
    for (std::uint64_t r = 0; r < batch.size(); ++r, ++rows)
      CHECK(has_windows(batch.ragged("wave").view<const float, 2>(r), batch.indices()[r]));
  CHECK(rows == 6);
}

TEST_CASE("a callable that says its result's shape wrongly, twice or never is told so") {
  const auto made = [](const auto& callable, const ps::MapOptions& options) {
    const ps::Pipeline p = ps::from(Waves{}) | ps::map("wave", callable, options);
    const auto error = error_of([&] { (void)p.at(2); });
    REQUIRE(error);
    CHECK(error->stage() == "map(wave)");
    CHECK(error->index() == std::uint64_t{2});
    return error->cause();
  };
  CHECK(holds(made([](ps::View<const float, 1>, ps::Output<float, 2>) {}, {}), "returned without emplace()"));
  CHECK(holds(made(
                  [](ps::View<const float, 1>, ps::Output<float, 1> out) {
                    out.emplace({1});
                    out.emplace({1});
                  },
                  {}),
              "emplace() of its Output twice"));
  CHECK(holds(made(
                  [](ps::View<const float, 1>, ps::Output<float, 2> out) {
                    out.emplace({3, 5});
                  },
                  {.shape = ps::Shape{ps::dynamic, 4}}),
              "[?, 4] in the schema"));
  CHECK(holds(made([](ps::View<const float, 1>, ps::Output<float, 2> out) { out.emplace({3}); }, {}), "rank 1"));
  CHECK(
      holds(made([](ps::View<const float, 1>, ps::Output<float, 1> out) { out.emplace({std::int64_t{1} << 40}); }, {}),
            "max_sample_bytes"));
  const ps::Pipeline p = ps::from(Waves{});
  CHECK(holds(refused(p, ps::map("wave", windows, {.shape = ps::Shape{4}})), "not of the rank 2"));
  CHECK(holds(refused(p, ps::map("wave", [](ps::View<const float, 1>, ps::View<float, 1>) {},
                                 {.shape = ps::Shape{ps::dynamic}, .version = 1})),
              "accepted"));
  CHECK(holds(refused(p | ps::map("wave", windows), ps::batch(2)), "varies from sample to sample"));
}

TEST_CASE("a map takes fields of several types where it says what becomes of them") {
  const ps::Pipeline p = ps::from(Waves{}) | ps::map("wave", Twice{}, {.name = "twice"}) |
                         ps::map("label", Twice{}, {.name = "twice"}) | ps::ragged("wave") | ps::batch(3);
  CHECK(p.schema().to_string() == "{wave: f32[?], label: i64[]}");
  ps::Loader loader(p, {.threads = 2, .epochs = 1});
  for (ps::Batch& batch : loader.epoch())
    for (std::uint64_t r = 0; r < batch.size(); ++r) {
      const std::uint64_t i = batch.indices()[r];
      const auto row = batch.ragged("wave").view<const float, 1>(r);
      CHECK(row.extent(0) == Waves::length(i));
      CHECK(row(3) == 2 * (static_cast<float>(i) + 3));
      CHECK(batch.view<std::int64_t, 1>("label")(r) == 2 * static_cast<std::int64_t>(i));
    }
  CHECK(loader.report().copied_bytes == 0);
  CHECK(holds(refused(ps::from(Records{.count = 3}), ps::map("x", Twice{})), "map(x): only f32 and i64 are doubled"));
  CHECK(holds(refused(ps::from(Waves{}), ps::map("wave", Twice{}, {.shape = ps::Shape{1}})), "leave `.shape` away"));
}

TEST_CASE("fields are left out by name") {
  const ps::Pipeline p = ps::from(Waves{});
  CHECK((p | ps::drop_fields({"wave"})).schema().to_string() == "{label: i64[]}");
  CHECK(collect(p | ps::drop_fields({"wave"}) | ps::batch(4), {}) ==
        collect(p | ps::select_fields({"label"}) | ps::batch(4), {}));
  CHECK(holds(refused(p, ps::drop_fields({"sound"})), "there is no field \"sound\"; the fields are {wave"));
  CHECK(refused(p, ps::drop_fields({"label", "label"})) == "accepted");
  CHECK(holds(refused(p, ps::drop_fields({"label", "wave"})), "no field would be left"));
  CHECK(error_of([] { (void)ps::drop_fields({}); })->code() == ps::Errc::invalid_argument);
  // What was said of the rows of a field does not hold for another of its name.
  const ps::Pipeline again =
      p | ps::ragged("wave") | ps::drop_fields({"wave"}) | ps::rename("label", "wave") | ps::batch(2);
  CHECK(again.schema()[0].collate == ps::Collate::dense());
}

TEST_CASE("a field gets another name, and with it what was said of its rows") {
  const ps::Pipeline p = ps::from(Waves{});
  const ps::Pipeline renamed = p | ps::rename("wave", "sound");
  CHECK(renamed.schema().to_string() == "{sound: f32[?], label: i64[]}");
  const auto bytes = [](const ps::Pipeline& pipeline) { return collect(pipeline, {.threads = 2}); };
  const auto after = bytes(p | ps::shuffle() | ps::pad("wave") | ps::bucket("wave", {.window = 8}) |
                           ps::rename("wave", "sound") | ps::batch(4));
  CHECK(after == bytes(renamed | ps::shuffle() | ps::pad("sound") | ps::bucket("sound", {.window = 8}) | ps::batch(4)));
  CHECK(after == bytes(p | ps::shuffle() | ps::pad("wave") | ps::bucket("wave", {.window = 8}) | ps::batch(4)));
  // Two names change places.
  const ps::Pipeline swapped = ps::from(Records{.count = 6}) | ps::rename("x", "old") | ps::rename("y", "x") |
                               ps::rename("old", "y") | ps::batch(3);
  CHECK(swapped.schema().to_string() == "{y: u32[4], x: i64[]}");
  CHECK(bytes(swapped) == bytes(ps::from(Records{.count = 6}) | ps::batch(3)));
  ps::Loader loader(swapped, {.epochs = 1});
  while (loader.next()) {
  }
  CHECK(loader.report().copied_bytes == 0);
  CHECK(holds(refused(p, ps::rename("wave", "label")), "there is a field \"label\" already"));
  CHECK(holds(refused(p, ps::rename("wave", "wave")), "there is a field \"wave\" already"));
  CHECK(holds(refused(p, ps::rename("sound", "label")), "there is no field \"sound\""));
  CHECK(error_of([] { (void)ps::rename("wave", ""); })->code() == ps::Errc::invalid_argument);
}

TEST_CASE("image stages on either side of a new name fold") {
  struct Photos {
    std::uint64_t size() const { return 20; }
    ps::Schema schema() const { return {{"image", ps::DType::u8, {ps::dynamic}}, {"other", ps::DType::u8, {}}}; }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      const auto file = fake::encode(8, 9, 3, [&](int k) { return mix(i * 1000 + static_cast<std::uint64_t>(k)); });
      auto to = out.emplace<std::uint8_t, 1>("image", {static_cast<std::int64_t>(file.size())});
      std::copy(file.begin(), file.end(), to.begin());
      out.scalar<std::uint8_t>("other", 1);
    }
  };
  const auto cut = [](const char* name) { return fake::image_stage(name, fake::RandomCrop{4, 4}); };
  const ps::Pipeline base = ps::from(Photos{}) | fake::decode("image");
  const ps::Pipeline renamed = base | cut("image") | ps::rename("image", "photo") |
                               fake::image_stage("photo", fake::RandomFlip{}) | ps::batch(5);
  CHECK(renamed.schema().to_string() == "{photo: u8[4, 4, 3], other: u8[]}");
  CHECK(renamed.plan().find("decode_raw(image) + random_crop(image) + random_flip(photo): one operation") !=
        std::string::npos);
  CHECK(collect(renamed, {.threads = 2}) ==
        collect(base | cut("image") | fake::image_stage("image", fake::RandomFlip{}) | ps::batch(5), {.threads = 2}));
  ps::Loader loader(renamed, {.epochs = 1});
  while (loader.next()) {
  }
  CHECK(loader.report().copied_bytes == 0);
}

}  // namespace PENSTOCK_TEST_FILE
