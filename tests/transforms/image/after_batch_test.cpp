// SPDX-License-Identifier: Apache-2.0
// The image stages after batch, where a kernel executes them, against themselves before it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include <penstock/emulated_gpu.hpp>
#include <penstock/error.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/image/both_sides.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

struct Photos {
  std::int32_t height = 17, width = 23, channels = 3;
  std::vector<std::uint64_t> bad = {};
  std::uint64_t size() const { return 37; }
  Schema schema() const {
    return {{"image", DType::u8, {height, width, channels}}, {"mask", DType::u8, {height, width, 1}}};
  }
  void read(std::uint64_t i, SampleBuilder& out) const {
    if (std::find(bad.begin(), bad.end(), i) != bad.end()) throw Error(Errc::corrupt, "a bad photo");
    put(out, "image", static_noise({height, width, channels}, i));
    put(out, "mask", static_noise({height, width, 1}, i + 1000));
  }

 private:
  static void put(SampleBuilder& out, const char* field, const Image& image) {
    const auto to = out.emplace<std::uint8_t, 3>(field, {image.shape.height, image.shape.width, image.shape.channels});
    std::copy(image.pixels.begin(), image.pixels.end(), to.data());
  }
};

// `fixed` stands before batch on both sides.
void check_both_sides(
    const Stages& stages, const Photos& photos = {}, const Stages& fixed = [](const Pipeline& p) { return p; }) {
  const Pipeline source = fixed(from(photos) | shuffle({.seed = 4}) | on_error({.policy = OnError::mask}));
  penstock_test::check_both_sides(stages(source) | batch(8), stages(source | batch(8)));
}

}  // namespace

TEST_CASE("every image stage that keeps pixels gives the same bits after batch") {
  check_both_sides([](const Pipeline& p) { return p | crop("image", {3, 4, 9, 11}); });
  check_both_sides([](const Pipeline& p) { return p | center_crop({"image", "mask"}, {10, 12}); });
  check_both_sides([](const Pipeline& p) { return p | random_crop({"image", "mask"}, {10, 12}); });
  check_both_sides([](const Pipeline& p) {
    return p | random_crop({"image", "mask"}, {18, 18}, {.padding = 5, .fill = {1, 2, 3}, .label = 255}) |
           random_rot90({"image", "mask"}) | random_flip("image");
  });
  check_both_sides([](const Pipeline& p) {
    return p | random_crop({"image", "mask"}, {17, 23}, {.padding = 8, .mode = Padding::Mode::reflect}) |
           rot90("image", 1) | flip_vertical("mask");
  });
  check_both_sides([](const Pipeline& p) { return p | flip_horizontal("image") | flip_vertical({"image", "mask"}); });
  check_both_sides([](const Pipeline& p) {
    return p | random_flip({"image", "mask"}) | random_flip_vertical("image");
  });
  check_both_sides([](const Pipeline& p) { return p | rot90("image", 1) | rot90({"image"}, -2); });
  check_both_sides([](const Pipeline& p) {
    return p | random_crop({"mask", "image"}, {12, 12}) | random_rot90({"image", "mask"}) |
           random_crop("image", {5, 9}) | random_flip({"mask"});
  });
}

TEST_CASE("conversions give the same bits after batch in every layout and dtype") {
  for (const std::int32_t channels : {1, 2, 3, 4})
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
      for (const Layout layout : {Layout::chw, Layout::hwc})
        check_both_sides(
            [&](const Pipeline& p) {
              const NormalizeOptions options{.mean = {0.485}, .std = {0.229}, .dtype = dtype, .layout = layout};
              return p | random_crop({"image", "mask"}, {9, 9}) | random_flip("image") | random_rot90("image") |
                     normalize("image", options);
            },
            {.channels = channels});
  check_both_sides([](const Pipeline& p) { return p | normalize("mask", {.mean = {0.5}, .std = {2}}); });
  check_both_sides([](const Pipeline& p) { return p | convert("image"); });
}

TEST_CASE("changes of colour give the same bits after batch") {
  const auto color = [](const Pipeline& p) {
    return p | color_jitter("image", {.brightness = 0.5, .contrast = 0.5, .saturation = 0.5, .hue = 0.3});
  };
  const auto stain = [](const Pipeline& p) { return p | stain_jitter("image", {.alpha = 0.3, .beta = 0.2}); };
  check_both_sides(color);
  check_both_sides(color, {.channels = 1});
  check_both_sides(stain);
  check_both_sides([&](const Pipeline& p) { return stain(color(stain(p))); });
  check_both_sides([&](const Pipeline& p) { return color(p) | color_jitter("mask", {.contrast = 0.9}); });
  // Folds before and after them.
  check_both_sides([&](const Pipeline& p) {
    return color(p | random_flip({"image", "mask"})) | normalize("image", {.mean = {0.5}, .std = {0.2}});
  });
  check_both_sides([&](const Pipeline& p) {
    return stain(p | random_crop({"image", "mask"}, {9, 9})) | random_rot90("mask") | random_flip("image") |
           convert("image");
  });
  // The second of its name after batch: its draws are the second's.
  check_both_sides(color, {}, color);
  check_both_sides(stain, {}, [&](const Pipeline& p) { return stain(color(p)); });
}

TEST_CASE("changes of colour leave rows without a sample as zeros after batch") {
  const Photos photos{.bad = {0, 1, 5, 20, 36}};
  check_both_sides([](const Pipeline& p) { return p | stain_jitter("image", {.alpha = 0.3, .beta = 0.2}); }, photos);
  check_both_sides([](const Pipeline& p) { return p | color_jitter("image", {.brightness = 0.5, .hue = 0.3}); },
                   photos);
  const Pipeline p = from(photos) | on_error({.policy = OnError::mask}) | batch(8) |
                     color_jitter("image", {.contrast = 1}) | stain_jitter("image", {.beta = 1});
  Loader loader(p, {.threads = 2});
  std::size_t masked = 0;
  for (Batch& batch : loader.epoch()) {
    const TensorView images = batch["image"];
    const std::size_t bytes = images.bytes() / batch.size();
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const std::span<const std::byte> image(images.data + row * bytes, bytes);
      const bool zeros = std::all_of(image.begin(), image.end(), [](std::byte b) { return b == std::byte{0}; });
      CHECK(zeros == (batch.mask()[row] == 0));
      masked += zeros;
    }
  }
  CHECK(masked == photos.bad.size());
}

TEST_CASE("changes of colour after batch are planned and refused like other stages there") {
  const Pipeline source = from(Photos{}) | batch(8);
  const Pipeline stained = source | stain_jitter("image", {.alpha = 0.1});
  CHECK(stained.plan().find("stain_jitter(image)") != std::string::npos);
  CHECK(stained.fingerprint() != (source | stain_jitter("image", {.alpha = 0.2})).fingerprint());
  const auto refused = [](const Pipeline& p, const Stage& stage) -> Errc {
    try {
      static_cast<void>(p | stage);
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(error.stage().find('(') != std::string::npos);
      return error.code();
    }
    FAIL("it was accepted");
    return Errc::user;
  };
  CHECK(refused(source, stain_jitter("mask", {.alpha = 0.1})) == Errc::schema_mismatch);
  CHECK(refused(source | normalize("image"), color_jitter("image", {.hue = 0.1})) == Errc::schema_mismatch);
  CHECK(refused(from(Photos{}) | ragged("image") | batch(8), color_jitter("image", {.hue = 0.1})) ==
        Errc::schema_mismatch);
  CHECK(refused(source, map("image", [](View<std::uint8_t, 3>) {})) == Errc::invalid_argument);
}

TEST_CASE("what is normalised after batch is what the formula says in float64") {
  const std::vector<double> mean{0.485, 0.456, 0.406}, deviation{0.229, 0.224, 0.225};
  const Photos photos;
  const Pipeline p = from(photos) | batch(8) | normalize("image", {.mean = mean, .std = deviation});
  double most = 0;
  Loader loader(p, {.threads = 1});
  for (Batch& batch : loader.epoch()) {
    const auto out = batch.view<const float, 4>("image");
    for (std::int64_t row = 0; row < out.extent(0); ++row) {
      const Image in = static_noise({photos.height, photos.width, 3}, batch.indices()[static_cast<std::size_t>(row)]);
      for (std::int64_t c = 0; c < 3; ++c)
        for (std::int64_t y = 0; y < out.extent(2); ++y)
          for (std::int64_t x = 0; x < out.extent(3); ++x) {
            const auto channel = static_cast<std::size_t>(c);
            const double value = in.pixels[static_cast<std::size_t>((y * photos.width + x) * 3 + c)];
            const double exact = (value / 255 - mean[channel]) / deviation[channel];
            most = std::max(most, std::abs(exact - static_cast<double>(out(row, c, y, x))));
          }
    }
  }
  CHECK(most > 0);
  CHECK(most < 4e-7);  // about three roundings of numbers below 3
}

}  // namespace PENSTOCK_TEST_FILE
