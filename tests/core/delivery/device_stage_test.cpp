// SPDX-License-Identifier: Apache-2.0
// Stages after batch: on the host, and on devices that do things late, at the same time, and checked.
#include "support/catch.hpp"

#include <functional>
#include <set>

#include <penstock/extend/device_stage.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/testing/statistics_resource.hpp>

#include "core/chain/fake_images.hpp"
#include "core/delivery/device_help.hpp"
#include "core/reorder/reordered_help.hpp"

using namespace help;

namespace {

// Images that tell their record and pixel.
struct Images {
  std::uint64_t count = 50;
  std::int64_t height = 6, width = 8;
  std::set<std::uint64_t> bad = {};
  std::uint64_t size() const { return count; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {height, width, 3}}, {"label", ps::DType::i64, {}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    if (bad.contains(i)) throw ps::Error(ps::Errc::corrupt, "planted");
    std::uint64_t j = 0;
    for (std::uint8_t& v : out.emplace<std::uint8_t, 3>("image", {height, width, 3}))
      v = static_cast<std::uint8_t>(i * 31 + j++ * 7);
    out.scalar<std::int64_t>("label", static_cast<std::int64_t>(i));
  }
};

struct ToFloat {
  ps::Layout layout = ps::Layout::chw;
  ps::DType dtype = ps::DType::f32;
  struct Params {};
  Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
  void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const {
    op.convert(dtype, layout, {0.25f, 0.5f, 1.1f, 1}, {-3, 0.125f, 7, 0});
  }
  ps::Shape schema(const ps::Shape& in, ps::DType& to) const {
    to = dtype;
    return layout == ps::Layout::chw ? ps::Shape{in[2], in[0], in[1]} : in;
  }
  std::string name() const { return "to_float"; }
};

ps::Pipeline with_images(ps::Pipeline p, ps::Layout layout) {
  return p | fake::image_stage("image", fake::RandomCrop{5, 5}) | fake::image_stage("image", fake::RandomTurn{}) |
         fake::image_stage("image", fake::RandomFlip{}) | fake::image_stage("image", fake::RandomCrop{4, 3}) |
         fake::image_stage("image", ToFloat{layout});
}

// Adds a drawn number and the label to every element, in a new field; and counts in "label".
struct Shift {
  struct Draws {
    std::int64_t wide;
    float shift;
  };
  std::string label = "shift";
  Draws draw(ps::Rng& rng) const {
    return {static_cast<std::int64_t>(rng.below(1000)), static_cast<float>(rng.uniform())};
  }
  ps::Schema schema(const ps::Schema& in) const {
    return in.with({"shifted", ps::DType::f32, in.at("image").shape}).with({"wide", ps::DType::i64, {}});
  }
  std::vector<std::string> writes() const { return {"label"}; }
  std::string name() const { return label; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    const ps::TensorView image = in["image"], label = in["label"], to = out["shifted"], wide = out["wide"],
                         new_label = out["label"];
    const std::uint64_t rows = in.rows, each = image.bytes() / rows;
    const std::byte* const draws = in.draws;
    ps::launch_on_host(stream, "shift",
                       [=] {
                         for (std::uint64_t r = 0; r < rows; ++r) {
                           Draws drawn;
                           std::memcpy(&drawn, draws + r * sizeof drawn, sizeof drawn);
                           const std::int64_t l = reinterpret_cast<const std::int64_t*>(label.data)[r];
                           for (std::uint64_t i = r * each; i < (r + 1) * each; ++i)
                             reinterpret_cast<float*>(to.data)[i] =
                                 static_cast<float>(std::to_integer<int>(image.data[i])) + drawn.shift +
                                 static_cast<float>(l);
                           reinterpret_cast<std::int64_t*>(wide.data)[r] = drawn.wide;
                           reinterpret_cast<std::int64_t*>(new_label.data)[r] = l + 1;
                         }
                       },
                       {{image.data, image.bytes(), false},
                        {label.data, label.bytes(), false},
                        {draws, rows * sizeof(Draws), false},
                        {to.data, to.bytes(), true},
                        {wide.data, wide.bytes(), true},
                        {new_label.data, new_label.bytes(), true}});
  }
};

// What Shift does, before batch.
struct ShiftSample {
  ps::Schema schema(const ps::Schema& in) const { return Shift{}.schema(in); }
  std::string name() const { return "shift"; }
  void operator()(ps::Sample& sample, ps::Context& context) const {
    const Shift::Draws drawn = Shift{}.draw(context.rng());
    const auto image = sample.view<const std::uint8_t, 3>("image");
    const std::int64_t label = sample.scalar<std::int64_t>("label");
    auto to = sample.emplace<float, 3>("shifted", image.shape());
    for (std::size_t i = 0; i < to.size(); ++i)
      to.data()[i] = static_cast<float>(image.data()[i]) + drawn.shift + static_cast<float>(label);
    sample.emplace<std::int64_t, 0>("wide", {})() = drawn.wide;
    sample.view<std::int64_t, 0>("label")() = label + 1;
  }
};

// Multiplies by a drawn number: one sample's image, and images of a batch.
struct Scale {
  struct Draws {
    std::uint64_t by;
  };
  static Draws draw(ps::Rng& rng) { return {rng.below(5)}; }
  void operator()(ps::View<std::uint8_t, 3> image, ps::Context& context) const {
    const Draws drawn = draw(context.rng());
    for (std::uint8_t& v : image) v = static_cast<std::uint8_t>(v * drawn.by);
  }
  bool draws() const { return true; }
};
struct ScaleBatch {
  Scale::Draws draw(ps::Rng& rng) const { return Scale::draw(rng); }
  ps::Schema schema(const ps::Schema& in) const { return in; }
  std::vector<std::string> writes() const { return {"image"}; }
  void run(ps::BatchView in, ps::BatchView out, ps::StreamRef stream) const {
    const ps::TensorView from = in["image"], to = out["image"];
    const std::uint64_t rows = in.rows, each = from.bytes() / rows;
    const std::byte* const draws = in.draws;
    ps::launch_on_host(
        stream, "scale",
        [=] {
          for (std::uint64_t i = 0; i < rows * each; ++i) {
            Scale::Draws drawn;
            std::memcpy(&drawn, draws + i / each * sizeof drawn, sizeof drawn);
            to.data[i] = static_cast<std::byte>(std::to_integer<std::uint64_t>(from.data[i]) * drawn.by);
          }
        },
        {{from.data, from.bytes(), false}, {draws, rows * sizeof(Scale::Draws), false}, {to.data, to.bytes(), true}});
  }
};

// On the host and on devices of every kind, batches are those that `before` brings on the host.
void check_everywhere(const ps::Pipeline& before, const ps::Pipeline& after, std::uint64_t epochs = 2) {
  const Watchdog watchdog(120s);
  const std::vector<Got> expected = collect(before, {.threads = 1}, epochs);
  REQUIRE_FALSE(expected.empty());
  CHECK(collect(after, {.threads = 1}, epochs) == expected);
  CHECK(collect(after, {.threads = 3, .depth = 2, .device_depth = 2}, epochs) == expected);
  for (const Mode mode : {Mode::late, Mode::threaded})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      ps::EmulatedGpu gpu({.mode = mode, .checked = true, .seed = seed, .max_delay_us = seed % 2 == 0 ? 0u : 50u});
      {
        ps::Loader loader(after, {.device = gpu.device(),
                                  .threads = 2,
                                  .depth = static_cast<unsigned>(2 + seed % 3),
                                  .device_depth = static_cast<unsigned>(2 + seed % 2)});
        CHECK(train(loader, gpu, epochs) == expected);
      }
      for (const std::string& finding : gpu.findings()) FAIL_CHECK(finding);
      CHECK(gpu.device_bytes_used() == 0);
      CHECK(gpu.pinned_bytes_used() == 0);
    }
}

}  // namespace

TEST_CASE("image stages give the same bits on either side of batch") {
  for (const ps::Layout layout : {ps::Layout::chw, ps::Layout::hwc}) {
    const ps::Pipeline source = ps::from(Images{}) | ps::shuffle({.seed = 3});
    check_everywhere(with_images(source, layout) | ps::batch(8), with_images(source | ps::batch(8), layout));
    // Some before it, some after.
    const ps::Pipeline half = source | fake::image_stage("image", fake::RandomCrop{5, 5});
    const auto rest = [&](const ps::Pipeline& p) {
      return p | fake::image_stage("image", fake::RandomTurn{}) | fake::image_stage("image", fake::RandomCrop{3, 4});
    };
    check_everywhere(rest(half) | ps::batch(7, {.tail = ps::Tail::pad}),
                     rest(half | ps::batch(7, {.tail = ps::Tail::pad})));
  }
}

TEST_CASE("draws of a device stage are those of a stage of its name before batch") {
  const ps::Pipeline source = ps::from(Images{}) | ps::shuffle({.seed = 5});
  check_everywhere(source | ShiftSample{} | ps::batch(6), source | ps::batch(6) | Shift{});
}

TEST_CASE("a map that says what it does to batches stands on either side of batch") {
  const ps::Pipeline source = ps::from(Images{}) | ps::shuffle({.seed = 5});
  const ps::Stage scale = ps::map("image", Scale{}, ScaleBatch{}, {.name = "scale"});
  check_everywhere(source | scale | ps::batch(6), source | ps::batch(6) | scale);
  check_everywhere(source | scale | scale | ps::batch(6), source | scale | ps::batch(6) | scale);
  // Before batch it is what a map without the second part is.
  CHECK((source | scale | ps::batch(6)).fingerprint() ==
        (source | ps::map("image", Scale{}, {.name = "scale"}) | ps::batch(6)).fingerprint());
}

TEST_CASE("stages after batch stand one after the other") {
  const auto crop = [](const ps::Pipeline& p) { return p | fake::image_stage("image", fake::RandomCrop{4, 4}); };
  const auto rest = [](const ps::Pipeline& p) {
    return p | fake::image_stage("image", fake::RandomFlip{}) | fake::image_stage("image", ToFloat{});
  };
  const ps::Pipeline source = ps::from(Images{});
  check_everywhere(rest(crop(source) | ShiftSample{} | ShiftSample{}) | ps::batch(9),
                   rest(crop(source | ps::batch(9)) | Shift{} | Shift{}));
}

TEST_CASE("what a policy does with bad samples holds after batch: masked rows are zeros") {
  const Images images{.bad = {3, 4, 17, 33}};
  for (const ps::OnError policy : {ps::OnError::mask, ps::OnError::replace, ps::OnError::drop}) {
    const ps::Pipeline source = ps::from(images) | ps::shuffle({.seed = 1}) | ps::on_error({.policy = policy});
    check_everywhere(with_images(source, ps::Layout::chw) | ps::batch(8),
                     with_images(source | ps::batch(8), ps::Layout::chw));
  }
}

TEST_CASE("reordered rows take their draws along") {
  const ps::Pipeline source = ps::from(Images{.count = 90}) | ps::shuffle({.seed = 2}) |
                              ps::filter([](const ps::Sample& s) { return s.scalar<std::int64_t>("label") % 3 != 1; });
  check_everywhere(source | ShiftSample{} | ps::batch(8), source | ps::batch(8) | Shift{});
}

TEST_CASE("a run with stages after batch is resumed anywhere") {
  const ps::Pipeline p = ps::from(Images{}) | ps::shuffle({.seed = 2}) | ps::batch(8) | Shift{};
  const std::vector<Got> expected = collect(p, {.threads = 1});
  ps::EmulatedGpu gpu;
  for (std::size_t at = 0; at <= expected.size(); ++at) {
    ps::Loader first(p, {.device = gpu.device(), .threads = 1});
    DeviceConsumer consumer(gpu);
    for (std::size_t i = 0; i < at; ++i) consumer.step(*first.next(consumer.ref()));
    ps::Loader second(p, {.threads = 2});
    second.resume(first.state());
    std::vector<Got> got = consumer.finish();
    for (ps::Batch& batch : second.epoch()) {
      if (batch.epoch() != 0) break;
      got.push_back(copy(batch));
    }
    CHECK(got == expected);
  }
}

TEST_CASE("a stage that throws ends the epoch after the batches before it and the next epoch comes whole") {
  struct Throws {
    std::shared_ptr<std::atomic<int>> left;
    ps::Schema schema(const ps::Schema& in) const { return in; }
    std::string name() const { return "breaks"; }
    void run(ps::BatchView, ps::BatchView, ps::StreamRef) const {
      if (left->fetch_sub(1) == 1) throw std::runtime_error("planted");
    }
  };
  const ps::Pipeline plain = ps::from(Images{}) | ps::batch(8);
  const std::vector<Got> expected = collect(plain, {.threads = 1}, 2);
  for (const bool on_host : {true, false}) {
    ps::EmulatedGpu gpu({.checked = true});
    const auto left = std::make_shared<std::atomic<int>>(4);
    ps::Loader loader(plain | Throws{left}, {.device = on_host ? ps::host() : gpu.device(), .threads = 2});
    DeviceConsumer consumer(gpu);
    std::vector<Got> got;
    const auto error = error_of([&] {
      for (ps::Batch& batch : loader.epoch(on_host ? ps::StreamRef{} : consumer.ref())) {
        if (on_host)
          got.push_back(copy(batch));
        else
          consumer.step(batch);
      }
    });
    if (!on_host) got = consumer.finish();
    REQUIRE(error);
    CHECK(error->stage() == "breaks");
    CHECK(error->cause().find("planted") != std::string::npos);
    REQUIRE(got.size() == 3);
    std::vector<Got> next;
    for (ps::Batch& batch : loader.epoch(on_host ? ps::StreamRef{} : consumer.ref())) {
      if (on_host)
        next.push_back(copy(batch));
      else
        consumer.step(batch);
    }
    if (!on_host) next = consumer.finish();
    got.insert(got.end(), next.begin(), next.end());
    REQUIRE(got.size() == 3 + expected.size() / 2);
    for (std::size_t i = 0; i < 3; ++i) CHECK(got[i] == expected[i]);
    for (std::size_t i = 3; i < got.size(); ++i) CHECK(got[i] == expected[i - 3 + expected.size() / 2]);
    CHECK(gpu.findings().empty());
  }
}

TEST_CASE("what can't stand after batch is refused with what to do") {
  const ps::Pipeline source = ps::from(Images{});
  const auto refused = [](auto&& build) { return error_of([&] { static_cast<void>(build()); }); };
  CHECK(refused([&] { return source | Shift{} | ps::batch(4); })->cause().find("after batch") != std::string::npos);
  CHECK(refused([&] { return source | ps::batch(4) | ps::select_fields({"image"}); })->cause().find("before batch") !=
        std::string::npos);
  struct Half {
    struct Params {};
    Params draw(const ps::ImageShape&, ps::Rng&) const { return {}; }
    void compose(const Params&, const ps::ImageShape&, ps::ImageOp& op) const { op.resize({3, 4}); }
    ps::Shape schema(const ps::Shape& in) const { return {3, 4, in[2]}; }
    std::string name() const { return "half"; }
  };
  const auto resampled = refused([&] { return source | ps::batch(4) | fake::image_stage("image", Half{}); });
  CHECK(resampled->cause().find("resample") != std::string::npos);
  CHECK(resampled->stage().find("half(image)") != std::string::npos);
  // A turn of what is not square has no fixed shape, until a crop gives it one.
  struct Turn : fake::RandomTurn {
    ps::Shape schema(const ps::Shape& in) const { return {ps::dynamic, ps::dynamic, in[2]}; }
  };
  const ps::Pipeline turned = source | ps::batch(4) | fake::image_stage("image", Turn{});
  const auto no_size = refused([&] { return ps::Loader(turned, {.threads = 1}).report().device; });
  REQUIRE(no_size);
  CHECK(no_size->code() == ps::Errc::schema_mismatch);
  CHECK(no_size->stage().find("turn(image)") != std::string::npos);
  CHECK_FALSE(refused([&] {
    return ps::Loader(turned | fake::image_stage("image", fake::RandomCrop{4, 4}), {.threads = 1}).report().device;
  }));
  CHECK(refused([&] {
          return source | ps::batch(4) | fake::image_stage("image", ToFloat{}) |
                 fake::image_stage("image", fake::RandomFlip{});
        })
            ->cause()
            .find("u8[H, W, C]") != std::string::npos);
  struct Sink {
    void open(const ps::SinkJob&) {}
  };
  const ps::Pipeline p = source | ps::batch(4) | Shift{};
  CHECK(p.schema().find("shifted"));
  CHECK(p.schema().size() == 4);
  CHECK(p.plan().find("shift") != std::string::npos);
  CHECK(p.at(3).schema().size() == 2);
  CHECK(p.fingerprint() != (source | ps::batch(4)).fingerprint());
  CHECK(p.fingerprint() != (source | ps::batch(4) | Shift{.label = "other"}).fingerprint());
}

TEST_CASE("the bytes of stages after batch are in the table and under the limit") {
  const ps::Pipeline p = ps::from(Images{}) | ps::batch(8) | Shift{} | Shift{};
  ps::EmulatedGpu gpu;
  std::size_t used = 0;
  {
    const ps::Loader loader(p, {.device = gpu.device(), .threads = 1, .device_depth = 2});
    used = gpu.device_bytes_used();
    std::uint64_t told = 0;
    for (const ps::MemoryPurpose& row : loader.report().memory)
      if (row.name.find("emulated") != std::string::npos) told += row.bytes();
    CHECK(told == used);
  }
  CHECK_FALSE(error_of([&] {
    const ps::Loader fits(p, {.device = gpu.device(), .threads = 1, .max_device_bytes = used});
    CHECK(gpu.device_bytes_used() == used);
  }));
  const auto error = error_of(
      [&] { const ps::Loader loader(p, {.device = gpu.device(), .threads = 1, .max_device_bytes = used - 1}); });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::out_of_memory);
  CHECK(error->cause().find("stages after batch") != std::string::npos);
}

namespace {
// Says of its schema and of what it writes what it is told.
struct Says {
  std::function<ps::Schema(const ps::Schema&)> what = [](const ps::Schema& in) { return in; };
  std::vector<std::string> names = {};
  ps::Schema schema(const ps::Schema& in) const { return what(in); }
  std::vector<std::string> writes() const { return names; }
  std::string name() const { return "says"; }
  void run(ps::BatchView, ps::BatchView, ps::StreamRef) const {}
};
}  // namespace

TEST_CASE("what a device stage says of itself is held against what there is and refused by its name") {
  const ps::Pipeline p = ps::from(Images{}) | ps::pad("image", {.to = 8}) | ps::batch(4);
  const auto refused = [&](const Says& stage) {
    const auto error = error_of([&] { static_cast<void>(p | stage); });
    return error ? error->stage() + ": " + error->cause() : "accepted";
  };
  using Of = const ps::Schema&;
  CHECK(refused({}) == "accepted");
  CHECK(refused({.what = [](Of) -> ps::Schema { throw std::runtime_error("boom"); }}).find("says: ") == 0);
  CHECK(refused({.what = [](Of in) { return in.with(in.at("imag")); }}).find("says: there is no field") == 0);
  CHECK(refused({.what = [](Of) { return ps::Schema(); }}).find("says: the stage leaves no field") == 0);
  CHECK(refused({.names = {"other"}}).find("says: the stage says that it writes field \"other\"") == 0);
  // Put together in another way than it was: rows would be read, and written, beyond their places.
  for (const ps::Collate& collate : {ps::Collate::pad(4), ps::Collate::ragged(), ps::Collate::dense()})
    CHECK(refused({.what = [&](Of in) {
            ps::Field field = in.at("image");
            field.collate = collate;
            return in.with(field);
          }}).find("says: field \"image\"") == 0);
  CHECK(refused({.what = [](Of in) {
          return in.with({"big", ps::DType::f32, {ps::dynamic}});
        }}).find("fixed shape") != std::string::npos);
  const auto huge = error_of([&] {
    const ps::Loader loader(p | Says{[](Of in) {
                              return in.with({"big", ps::DType::f32, {1 << 30, 1 << 30}});
                            }} | Says{[](Of in) { return in.without("big"); }},
                            {.threads = 1});
  });
  REQUIRE(huge);
  CHECK(huge->code() == ps::Errc::limit_exceeded);
  // A padded image is none after batch.
  CHECK(error_of([&] { static_cast<void>(p | fake::image_stage("image", fake::RandomFlip{})); })
            ->cause()
            .find("one fixed size") != std::string::npos);
}

TEST_CASE("in fixed steps the next epoch begins after the batch whose stage threw") {
  struct Throws {
    ps::Schema schema(const ps::Schema& in) const { return in; }
    void run(ps::BatchView in, ps::BatchView, ps::StreamRef) const {
      const auto label = in["label"].as<std::int64_t, 1>();
      for (const std::int64_t l : label)
        if (l == 13) throw std::runtime_error("planted");
    }
  };
  const ps::Pipeline p = ps::from(Images{.count = 200}) |
                         ps::filter([](const ps::Sample& s) { return s.scalar<std::int64_t>("label") % 2 == 1; }) |
                         ps::for_rank({.steps_per_epoch = 5}) | ps::batch(4) | Throws{};
  ps::Loader loader(p, {.threads = 1});
  std::vector<std::int64_t> firsts;
  int failed = 0;
  for (int epoch = 0; epoch < 4; ++epoch)
    if (error_of([&] {
          for (ps::Batch& batch : loader.epoch()) firsts.push_back(batch.view<std::int64_t, 1>("label")(0));
        }))
      ++failed;
  CHECK(failed == 1);
  CHECK(std::vector<std::int64_t>(firsts.begin(), firsts.begin() + 4) == std::vector<std::int64_t>{1, 17, 25, 33});
  CHECK(firsts.size() == 16);
}

TEST_CASE("batches after stages on the host come from its memory and are counted as they are delivered") {
  ps::testing::StatisticsResource memory(ps::host_memory());
  ps::Loader loader(ps::from(Images{.count = 8}) | ps::batch(8) | Shift{}, {.threads = 1, .host_memory = &memory});
  const auto batch = loader.next();
  std::size_t bytes = 0;
  for (const ps::Field& field : batch->schema()) bytes += (*batch)[field.name].bytes();
  CHECK(loader.report().bytes == bytes);
  CHECK(loader.report().device == "host");
  CHECK(memory.used() >= 2 * bytes);
}

TEST_CASE("fields of rows of any size that stages after batch leave alone are counted as they are delivered") {
  struct Tokens {
    std::uint64_t size() const { return 7; }
    ps::Schema schema() const {
      return {{"tokens", ps::DType::i32, {ps::dynamic}, ps::Collate::ragged()}, {"label", ps::DType::i64, {}}};
    }
    void read(std::uint64_t i, ps::SampleBuilder& out) const {
      const auto n = static_cast<std::int64_t>(i);
      std::ranges::fill(out.emplace<std::int32_t, 1>("tokens", {n}), 1);
      out.scalar<std::int64_t>("label", n);
    }
  };
  struct Doubles {
    ps::Schema schema(const ps::Schema& in) const { return in.with({"twice", ps::DType::i64, {}}); }
    void run(ps::BatchView, ps::BatchView, ps::StreamRef) const {}
  };
  constexpr std::uint64_t bytes = (0 + 1 + 2 + 3 + 4 + 5 + 6) * sizeof(std::int32_t) + 2 * 7 * sizeof(std::int64_t);
  ps::Loader loader(ps::from(Tokens{}) | ps::batch(7) | Doubles{}, {.threads = 1});
  static_cast<void>(loader.next());
  CHECK(loader.report().bytes == bytes);
}

TEST_CASE("pinned bytes have a limit of their own") {
  const ps::Pipeline p = ps::from(Images{.height = 64, .width = 64}) | ps::batch(8);
  ps::EmulatedGpu gpu;
  std::size_t used = 0;
  {
    const ps::Loader loader(p, {.device = gpu.device(), .threads = 2, .depth = 6});
    used = gpu.pinned_bytes_used();
  }
  REQUIRE(used % 6 == 0);
  {
    const ps::Loader loader(p, {.device = gpu.device(), .threads = 2, .depth = 6, .max_pinned_bytes = used / 2 + 100});
    CHECK(gpu.pinned_bytes_used() == used / 2);
    CHECK(loader.report().text().find("`max_pinned_bytes` allows 3 batches") != std::string::npos);
  }
  const auto error = error_of([&] {
    const ps::Loader loader(p, {.device = gpu.device(), .threads = 1, .max_pinned_bytes = used / 6 * 2 - 1});
  });
  REQUIRE(error);
  CHECK(error->code() == ps::Errc::out_of_memory);
  CHECK(error->cause().find("`max_pinned_bytes`") != std::string::npos);
}

TEST_CASE("batches made after batch outlive their loader") {
  const ps::Pipeline p = ps::from(Images{}) | ps::batch(8) | Shift{};
  const std::vector<Got> expected = collect(p, {.threads = 1});
  for (const Mode mode : {Mode::late, Mode::threaded}) {
    ps::EmulatedGpu gpu({.mode = mode, .checked = true});
    DeviceConsumer consumer(gpu);
    std::optional<ps::Batch> kept;
    {
      ps::Loader loader(p, {.device = gpu.device(), .threads = 1});
      kept = loader.next(consumer.ref());
    }
    consumer.step(*kept);
    kept.reset();
    CHECK(consumer.finish()[0] == expected[0]);
    CHECK(gpu.device_bytes_used() == 0);
    CHECK(gpu.findings().empty());
  }
  std::optional<ps::Batch> on_host;
  {
    ps::Loader loader(p, {.threads = 1});
    on_host = loader.next();
    CHECK(on_host->device() == ps::host());
  }
  CHECK(copy(*on_host) == expected[0]);
}
