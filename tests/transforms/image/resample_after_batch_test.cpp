// SPDX-License-Identifier: Apache-2.0
// Images of any size that are resampled after batch, against the same stages before it.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/device_stage.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/image/both_sides.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Each record's image has sides of its own.
struct Sized {
  std::vector<Size> sizes;
  std::int32_t channels = 3;
  std::vector<std::uint64_t> bad = {};
  std::uint64_t size() const { return 37; }
  Schema schema() const {
    return {{"image", DType::u8, {dynamic, dynamic, channels}}, {"mask", DType::u8, {dynamic, dynamic, 1}}};
  }
  void read(std::uint64_t i, SampleBuilder& out) const {
    if (std::find(bad.begin(), bad.end(), i) != bad.end()) throw Error(Errc::corrupt, "a bad photo");
    const Size size = sizes[i % sizes.size()];
    put(out, "image", static_noise({size.height, size.width, channels}, i));
    put(out, "mask", static_noise({size.height, size.width, 1}, i + 1000));
  }

 private:
  static void put(SampleBuilder& out, const char* field, const Image& image) {
    const auto to = out.emplace<std::uint8_t, 3>(field, {image.shape.height, image.shape.width, image.shape.channels});
    std::copy(image.pixels.begin(), image.pixels.end(), to.data());
  }
};

// Larger and smaller than the results, slivers, and some that are shrunk more than fifteenfold.
const std::vector<Size> any_sizes{{31, 47}, {9, 300},  {240, 7}, {1, 1},   {13, 13}, {2, 90},
                                  {64, 64}, {401, 33}, {11, 12}, {100, 3}, {57, 400}};
const std::vector<Size> large_sizes{{31, 47}, {90, 30}, {64, 64}, {33, 120}};

Pipeline any_size(const Pipeline& p) { return p | ragged("image") | ragged("mask"); }

void check_sizes(const Sized& photos, const Stages& stages, const BatchOptions& options = {}) {
  const Pipeline source = from(photos) | shuffle({.seed = 4}) | on_error({.policy = OnError::mask});
  check_both_sides(stages(source) | batch(8, options), stages(any_size(source) | batch(8, options)));
}

Pipeline both(const Pipeline& p, Size size) { return p | resize({"image", mask("mask")}, size); }

}  // namespace

TEST_CASE("images of any size are resampled after batch to the bits they have before it") {
  check_sizes({any_sizes}, [](const Pipeline& p) { return both(p, {16, 20}); });
  check_sizes({any_sizes}, [](const Pipeline& p) {
    return p | random_resized_crop({"image", mask("mask")}, {14, 14});
  });
  check_sizes({any_sizes}, [](const Pipeline& p) { return both(p, {1, 130}); });
  check_sizes({any_sizes}, [](const Pipeline& p) { return both(p, {70, 1}); });
  check_sizes({large_sizes}, [](const Pipeline& p) {
    return p | resize_short({"image", mask("mask")}, 28) | center_crop({"image", "mask"}, {24, 21});
  });
  check_sizes({large_sizes}, [](const Pipeline& p) { return p | random_crop({"image", "mask"}, {24, 24}); });
}

TEST_CASE("rows that begin at any byte and boxes of a few columns are resampled after batch") {
  for (const std::int32_t channels : {1, 2, 3, 4}) {
    CAPTURE(channels);
    Sized photos{.sizes = {}, .channels = channels};
    for (std::int32_t width = 1; width <= 37; ++width) photos.sizes.push_back({5 + width % 7, width});
    check_sizes(photos, [](const Pipeline& p) { return both(p, {4, 7}); });
    check_sizes(photos, [](const Pipeline& p) { return p | random_resized_crop({"image", mask("mask")}, {5, 9}); });
    // High enough for 32-bit weights.
    for (std::int32_t width = 1; width <= 37; ++width) photos.sizes[width - 1].height = 60 + width % 7;
    check_sizes(photos, [](const Pipeline& p) { return both(p, {3, 6}); });
  }
}

TEST_CASE("rows of several stretches are resampled after batch") {
  // Shrunk ten, thirteen and nineteen times: pairs of inputs stand on both sides of a stretch's end.
  const std::vector<Size> sizes{{20, 700}, {35, 901}, {18, 1283}, {3, 703}, {50, 257}, {9, 258}, {17, 555}};
  for (const std::int32_t channels : {1, 2, 3, 4}) {
    CAPTURE(channels);
    const auto crop = [](const Pipeline& p) {
      return p | random_flip("image") | random_resized_crop({"image", mask("mask")}, {18, 69}, {.scale = {0.6, 1}});
    };
    check_sizes({sizes, channels}, [](const Pipeline& p) { return both(p, {17, 67}); });
    check_sizes({sizes, channels}, crop);
  }
}

TEST_CASE("what stands around a resample after batch has the bits it has before it") {
  for (const std::int32_t channels : {1, 2, 3, 4})
    for (const DType dtype : {DType::u8, DType::f16, DType::bf16, DType::f32})
      for (const Layout layout : {Layout::chw, Layout::hwc}) {
        const auto stages = [&](const Pipeline& p) {
          Pipeline out = p | random_flip({"image", "mask"}) | random_resized_crop({"image", mask("mask")}, {15, 12}) |
                         random_crop({"image", "mask"}, {17, 17}, {.padding = 6, .fill = {9}, .label = 255}) |
                         random_rot90({"image", "mask"}) | random_flip_vertical({"image", "mask"});
          return dtype == DType::u8
                     ? out
                     : out | normalize("image", {.mean = {0.4}, .std = {0.3}, .dtype = dtype, .layout = layout});
        };
        check_sizes({large_sizes, channels}, stages);
      }
  check_sizes({any_sizes}, [](const Pipeline& p) {
    return both(p, {19, 11}) |
           random_crop({"image", "mask"}, {19, 11}, {.padding = 5, .mode = Padding::Mode::reflect}) |
           rot90("image", 1) | random_flip("image") | normalize("image");
  });
  check_sizes({any_sizes}, [](const Pipeline& p) {
    return both(p, {19, 11}) | color_jitter("image", {.brightness = 0.5, .hue = 0.2}) | random_flip("image");
  });
}

TEST_CASE("images of one size are resampled after batch as well") {
  const Sized one{{{41, 30}}};
  const Pipeline source = from(one) | center_crop({"image", "mask"}, {40, 29}) | shuffle({.seed = 2});
  const auto stages = [](const Pipeline& p) {
    return p | random_resized_crop({"image", mask("mask")}, {24, 24}) | random_flip("image") |
           normalize("image", {.mean = {0.5}, .std = {0.2}});
  };
  check_both_sides(stages(source) | batch(8), stages(source | batch(8)));
  const auto nothing = [](const Pipeline& p) { return p | resize({"image", mask("mask")}, {40, 29}); };
  check_both_sides(nothing(source) | batch(8), nothing(source | batch(8)));
}

TEST_CASE("images of one size that travel packed are found behind rows without one") {
  struct Same : Sized {
    Schema schema() const { return {{"image", DType::u8, {31, 47, 3}}, {"mask", DType::u8, {31, 47, 1}}}; }
  };
  Same photos;
  photos.sizes = {{31, 47}};
  photos.bad = {0, 1, 5, 20, 36};
  const Pipeline source = from(photos) | on_error({.policy = OnError::mask});
  for (const Tail tail : {Tail::keep, Tail::pad})
    check_both_sides(source | random_flip({"image", "mask"}) | batch(8, {.tail = tail}),
                     any_size(source) | batch(8, {.tail = tail}) | random_flip({"image", "mask"}));
}

TEST_CASE("a mask of another size than its image is a bad sample after batch as before it") {
  struct Apart {
    std::uint64_t size() const { return 6; }
    Schema schema() const {
      return {{"image", DType::u8, {dynamic, dynamic, 3}, Collate::ragged()},
              {"mask", DType::u8, {dynamic, dynamic, 1}, Collate::ragged()}};
    }
    void read(std::uint64_t, SampleBuilder& out) const {
      for (std::uint8_t& v : out.emplace<std::uint8_t, 3>("image", {20, 30, 3})) v = 1;
      for (std::uint8_t& v : out.emplace<std::uint8_t, 3>("mask", {40, 60, 1})) v = 1;
    }
  };
  const auto stage = random_resized_crop({"image", mask("mask")}, {9, 9});
  for (const Pipeline& p : {from(Apart{}) | stage | batch(3), from(Apart{}) | batch(3) | stage}) {
    const Error error = error_of([&] {
      Loader loader(p, {.threads = 1, .epochs = 1});
      static_cast<void>(loader.next());
    });
    CHECK(error.code() == Errc::unsupported);
    CHECK(mentions(error, "agree in height and width"));
  }
}

TEST_CASE("rows without an image are zeros after batch") {
  const Sized photos{.sizes = any_sizes, .bad = {0, 1, 5, 20, 36}};
  check_sizes(photos, [](const Pipeline& p) {
    return both(p, {12, 9}) | random_rot90("image") | center_crop("image", {9, 9});
  });
  check_sizes(photos, [](const Pipeline& p) { return both(p, {12, 9}) | convert("image"); }, {.tail = Tail::pad});
}

TEST_CASE("any stages on images of any size give the same bits on both sides of batch") {
  Rng random(20261127, 1, {});
  const auto below = [&](std::uint64_t n) { return static_cast<std::int32_t>(random.below(n)); };
  for (int run = 0; run < 60; ++run) {
    CAPTURE(run);
    Sized photos{.sizes = {}, .channels = 1 + below(4)};
    const std::int32_t most = run % 5 == 0 ? 500 : 70;
    for (int i = 0; i < 7; ++i)
      photos.sizes.push_back(
          {1 + below(static_cast<std::uint64_t>(most)), 1 + below(static_cast<std::uint64_t>(most))});
    const Size size{1 + below(40), 1 + below(40)};
    const int kind = below(3), turn = below(4), quarters = below(4);
    const bool jitters = below(2) == 0, pads = below(2) == 0;
    check_sizes(photos, [&](const Pipeline& p) {
      Pipeline out = turn == 1 ? p | random_flip("image") : turn == 2 ? p | flip_vertical({"image", "mask"}) : p;
      out = kind == 0
                ? out | resize({"image", mask("mask")}, size)
                : out | random_resized_crop({"image", mask("mask")}, size, {.scale = {kind == 1 ? 0.01 : 0.5, 1}});
      if (pads)
        out = out | random_crop("image", size, {.padding = std::min({size.height, size.width, 4}) - 1, .fill = {3}});
      if (turn == 3) out = out | rot90("image", quarters);
      if (jitters) out = out | random_flip("image") | normalize("image", {.dtype = DType::f16});
      return out;
    });
  }
}

TEST_CASE("each of several devices resamples its rows of a batch") {
  EmulatedGpu first({.checked = true}), second({.checked = true});
  auto one = first.make_stream("one"), two = second.make_stream("two");
  const Pipeline source = from(Sized{any_sizes}) | shuffle({.seed = 4});
  const std::vector<Bytes> expected = on_host(both(source, {16, 20}) | batch(8));
  Loader loader(both(any_size(source) | batch(8), {16, 20}),
                {.devices = {first.device(), second.device()}, .epochs = 2});
  const std::vector<StreamRef> streams{one.ref(), two.ref()};
  std::size_t at = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    while (auto parts = loader.next_parts(streams)) {
      one.synchronize();
      two.synchronize();
      for (const char* field : {"image", "mask"}) {
        Bytes got;
        for (const Batch& part : *parts) {
          const TensorView t = part[field];
          got.insert(got.end(), t.data, t.data + t.bytes());
        }
        REQUIRE(at < expected.size());
        CHECK(got == expected[at++]);
      }
    }
  CHECK(at == expected.size());
  CHECK(first.findings().empty());
  CHECK(second.findings().empty());
}

namespace {

// Adds the bytes of each row of a ragged field.
struct RowSums {
  Schema schema(const Schema& in) const { return in.with({"sum", DType::i64, {}}); }
  std::string name() const { return "row_sums"; }
  void run(BatchView in, BatchView out, StreamRef stream) const {
    const PackedTensor mask = in.packed("mask");
    CHECK(mask.offsets.shape == Shape{static_cast<std::int64_t>(in.rows) + 1});
    const TensorView to = out["sum"];
    const std::uint64_t rows = in.rows;
    launch_on_host(stream, "row_sums",
                   [=] {
                     const auto* offsets = reinterpret_cast<const std::int64_t*>(mask.offsets.data);
                     const auto* bytes = reinterpret_cast<const std::uint8_t*>(mask.data.data);
                     for (std::uint64_t r = 0; r < rows; ++r)
                       reinterpret_cast<std::int64_t*>(to.data)[r] =
                           std::accumulate(bytes + offsets[r], bytes + offsets[r + 1], std::int64_t{0});
                   },
                   {{mask.data.data, mask.data.bytes(), false},
                    {mask.offsets.data, mask.offsets.bytes(), false},
                    {to.data, to.bytes(), true}});
  }
};

}  // namespace

TEST_CASE("a ragged field stays ragged beside stages after batch and a stage of one's own reads it") {
  const Pipeline p =
      any_size(from(Sized{any_sizes}) | shuffle({.seed = 1})) | batch(8) | resize("image", {7, 9}) | RowSums{};
  std::vector<std::vector<std::int64_t>> expected;
  Loader as_they_are(any_size(from(Sized{any_sizes}) | shuffle({.seed = 1})) | batch(8), {.epochs = 1});
  for (Batch& batch : as_they_are.epoch()) {
    const RaggedRows rows = batch.ragged("mask");
    auto& sums = expected.emplace_back();
    for (std::uint64_t r = 0; r < rows.size(); ++r) {
      const auto view = rows.view<std::uint8_t, 3>(r);
      sums.push_back(std::accumulate(view.begin(), view.end(), std::int64_t{0}));
    }
  }
  REQUIRE(expected.size() == 5);
  for (const bool on_gpu : {false, true}) {
    EmulatedGpu gpu({.mode = EmulatedGpuOptions::Mode::late, .checked = true});
    auto stream = gpu.make_stream("consumer");
    Loader loader(p, {.device = on_gpu ? gpu.device() : host(), .epochs = 1});
    std::size_t at = 0;
    for (Batch& batch : loader.epoch(on_gpu ? stream.ref() : StreamRef{})) {
      stream.synchronize();
      const auto sums = batch.view<const std::int64_t, 1>("sum");
      REQUIRE(at < expected.size());
      CHECK(std::vector<std::int64_t>(sums.begin(), sums.end()) == expected[at++]);
      // The rows themselves are delivered too.
      const RaggedRows rows = batch.ragged("mask");
      const auto first = rows.view<std::uint8_t, 3>(0);
      CHECK(std::accumulate(first.begin(), first.end(), std::int64_t{0}) == sums(0));
      CHECK(code_of([&] { static_cast<void>(batch.ragged("image")); }) == Errc::unsupported);
      CHECK(batch["image"].shape == Shape{static_cast<std::int64_t>(batch.size()), 7, 9, 3});
    }
    CHECK(at == 5);
    CHECK(gpu.findings().empty());
  }
  const auto dense = error_of([&] {
    struct Reads : RowSums {
      void run(BatchView in, BatchView, StreamRef) const { static_cast<void>(in.packed("image")); }
    };
    Loader loader(any_size(from(Sized{any_sizes})) | batch(8) | resize("image", {7, 9}) | Reads{}, {.epochs = 1});
    static_cast<void>(loader.next());
  });
  CHECK(mentions(dense, "not ragged"));
}

TEST_CASE("batches that nobody took are resampled before their memory is used again") {
  const Pipeline p = both(any_size(from(Sized{any_sizes})) | batch(4), {16, 20});
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    EmulatedGpu gpu({.mode = EmulatedGpuOptions::Mode::late, .checked = true, .seed = seed});
    auto stream = gpu.make_stream("consumer");
    Loader loader(p, {.device = gpu.device(), .threads = 2, .device_depth = 2});
    for (int epoch = 0; epoch < 8; ++epoch)
      for (const Batch& batch : loader.epoch(stream.ref()))
        if (batch.number() == 1) break;
    stream.synchronize();
    CHECK(gpu.findings() == std::vector<std::string>());
  }
}

TEST_CASE("images that keep sizes of their own after batch are refused with what to do") {
  const Pipeline source = any_size(from(Sized{large_sizes})) | drop_fields({"mask"}) | batch(4);
  const auto refused = [](const Pipeline& p) {
    return error_of([&] { static_cast<void>(Loader(p, {.threads = 1})); });
  };
  const auto flipped = refused(source | random_flip("image"));
  CHECK(flipped.code() == Errc::schema_mismatch);
  CHECK(mentions(flipped, "random_resized_crop"));
  CHECK(mentions(flipped, "random_flip(image)"));
  CHECK(refused(source | resize_short("image", 20)).code() == Errc::schema_mismatch);
  static_cast<void>(Loader(source | resize_short("image", 20) | center_crop("image", {20, 20}), {.threads = 1}));
  CHECK((source | resize_short("image", 20)).plan().find("resize_short(image)") != std::string::npos);
  // Two resamples are not one operation.
  CHECK(code_of([&] {
          static_cast<void>(source | resize("image", {20, 20}) | resize("image", {30, 30}));
        }) == Errc::unsupported);
  CHECK(code_of([&] {
          static_cast<void>(source | resize("image", {512, 512}) | random_resized_crop("image", {448, 448}));
        }) == Errc::unsupported);
  // Records may be as large as that.
  static_cast<void>(Loader(source | center_crop("image", {5000, 6000}), {.threads = 1}));
  // An image that is too small is a bad sample.
  const Pipeline small =
      any_size(from(Sized{any_sizes})) | batch(4) | center_crop("image", {20, 20}) | crop("mask", {0, 0, 1, 1});
  const auto too_small = error_of([&] {
    Loader loader(small, {.epochs = 1});
    while (loader.next()) {
    }
  });
  CHECK(too_small.code() == Errc::unsupported);
  CHECK(mentions(too_small, "center_crop(image)"));
  Loader dropping(small | on_error({.policy = OnError::drop}), {.epochs = 1});
  std::uint64_t rows = 0;
  while (auto batch = dropping.next()) rows += batch->size();
  CHECK(rows > 0);
  CHECK(rows < 37);
}

TEST_CASE("plan says what of a pipeline runs on the device") {
  const Pipeline source = any_size(from(Sized{any_sizes})) | batch(4);
  const std::string plan =
      (source | random_resized_crop("image", {20, 20}) | resize(mask("mask"), {9, 8}) | normalize("image")).plan();
  INFO(plan);
  const auto says = [&](const char* text) { return plan.find(text) != std::string::npos; };
  CHECK(says(
      "after   random_resized_crop(image) + normalize(image): on the loader's device, whole batches, images of any "
      "size resampled there -> image: f32[3, 20, 20]"));
  CHECK(says("after   resize(mask): on the loader's device"));
  CHECK(says("is kept; image is ragged; mask is ragged\n"));
  CHECK(says("stage   draws: for the stages after batch\n"));
}
