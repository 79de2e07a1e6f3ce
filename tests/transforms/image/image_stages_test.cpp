// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/image/reference.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

Rng rng_at(std::uint64_t position) { return Rng(7, 99, Place{0, position, 0, 0}); }

template <class S>
ImageOp composed(const S& stage, const ImageShape& shape, std::uint64_t position = 0) {
  Rng rng = rng_at(position);
  ImageOp op(shape);
  stage.compose(stage.draw(shape, rng), shape, op);
  return op;
}

const Shape open{dynamic, dynamic, 3};

// Of which nobody reads one.
struct Pictures {
  Shape shape;
  std::uint64_t size() const { return 4; }
  Schema schema() const { return {{"image", DType::u8, shape}}; }
  void read(std::uint64_t, SampleBuilder&) const {}
};

}  // namespace

static_assert(ImageStage<Crop> && ImageStage<CenterCrop> && ImageStage<RandomCrop> && ImageStage<RandomResizedCrop>);
static_assert(ImageStage<Resize> && ImageStage<ResizeShort> && ImageStage<Flip> && ImageStage<RandomFlip>);
static_assert(ImageStage<Rot90> && ImageStage<RandomRot90> && ImageStage<Convert> && ImageStage<Normalize>);

TEST_CASE("crops take the box they name") {
  const ImageShape shape{100, 81, 3};
  CHECK(composed(Crop({5, 6, 7, 8}), shape).box == Box{5, 6, 7, 8});
  CHECK(composed(CenterCrop({20, 20}), shape).box == Box{40, 30, 20, 20});
  bool corners[2] = {false, false};
  for (std::uint64_t position = 0; position < 2000; ++position) {
    const Box box = composed(RandomCrop({97, 80}), shape, position).box;
    REQUIRE(box.size() == Size{97, 80});
    corners[0] = corners[0] || (box.top == 0 && box.left == 0);
    corners[1] = corners[1] || (box.top == 3 && box.left == 1);
  }
  CHECK((corners[0] && corners[1]));
  CHECK(composed(RandomCrop({100, 81}), shape).box == Box{0, 0, 100, 81});
}

TEST_CASE("crops of too small an image are an error of that sample, or of the schema") {
  const ImageShape small{10, 300, 3};
  CHECK(code_of([&] { composed(Crop({5, 5, 6, 6}), small); }) == Errc::unsupported);
  CHECK(code_of([&] { composed(CenterCrop({11, 10}), small); }) == Errc::unsupported);
  CHECK(code_of([&] { composed(RandomCrop({10, 301}), small); }) == Errc::unsupported);
  CHECK(code_of([&] { (void)Crop({5, 5, 6, 6}).schema({10, dynamic, 3}); }) == Errc::schema_mismatch);
  CHECK(code_of([&] { (void)CenterCrop({5, 5}).schema({dynamic, 4, 3}); }) == Errc::schema_mismatch);
  CHECK(code_of([&] { Crop({-1, 0, 5, 5}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { Crop({0, INT32_MAX, 5, 5}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { RandomCrop({0, 5}); }) == Errc::invalid_argument);
  const auto refused = [](const RandomCropOptions& options) {
    return code_of([&] { RandomCrop({8, 9}, options); }) == Errc::invalid_argument;
  };
  CHECK(refused({.padding = -1}));
  CHECK(refused({.padding = 8}));
  CHECK(refused({.padding = 4, .mode = Padding::Mode::reflect}));
  CHECK(refused({.padding = 1, .fill = {}}));
  CHECK(refused({.padding = 1, .fill = {1, 2, 3, 4, 5}}));
  CHECK(refused({.padding = 1, .fill = {-1}}));
  CHECK(refused({.padding = 1, .label = 70000}));
}

TEST_CASE("random_resized_crop keeps torchvision's bounds") {
  const ImageShape shape{375, 500, 3};
  const RandomResizedCrop stage({224, 224});
  double share = 0, log_ratio = 0;
  const int draws = 20000;
  for (std::uint64_t position = 0; position < draws; ++position) {
    const ImageOp op = composed(stage, shape, position);
    REQUIRE(op.shape() == ImageShape{224, 224, 3});
    const Box& b = op.box;
    const double ratio = static_cast<double>(b.width) / b.height,
                 area = static_cast<double>(b.width) * b.height / (375. * 500);
    REQUIRE((ratio > 0.74 && ratio < 1.35 && area > 0.079 && area <= 1));
    share += area, log_ratio += std::log(ratio);
  }
  // Large boxes that don't fit are drawn again, hence not 0.54 and 0. The numbers are those of torchvision's code.
  CHECK(share / draws == Approx(0.4317).margin(0.006));
  CHECK(log_ratio / draws == Approx(0.031).margin(0.006));
}

TEST_CASE("random_resized_crop falls back to the middle") {
  const RandomResizedCrop stage({8, 8}, {.scale = {1, 1}, .ratio = {0.5, 2}});
  CHECK(composed(stage, {10, 101, 3}).box == Box{0, 40, 10, 20});
  CHECK(composed(stage, {101, 10, 3}).box == Box{40, 0, 20, 10});
  // One pixel, and the most a shape can hold.
  CHECK(composed(RandomResizedCrop({8, 8}), {1, 1, 3}).box == Box{0, 0, 1, 1});
  CHECK(composed(RandomResizedCrop({8, 8}, {.ratio = {0.001, 1000}}), {INT32_MAX, 1, 1}).box.width == 1);
}

TEST_CASE("draws are what they always were") {
  const RandomResizedCrop stage({224, 224});
  std::uint64_t hash = 1469598103934665603u;
  for (std::uint64_t position = 0; position < 1000; ++position) {
    const Box box = composed(stage, {375, 500, 3}, position).box;
    for (const std::int32_t n : {box.top, box.left, box.height, box.width})
      hash = (hash ^ static_cast<std::uint64_t>(n)) * 1099511628211u;
  }
  CHECK(hash == 0x58402465b7653b21u);
}

TEST_CASE("resizes have the size they name") {
  CHECK(composed(Resize({30, 40}), {7, 9, 3}).shape() == ImageShape{30, 40, 3});
  CHECK(composed(ResizeShort(256), {375, 500, 3}).shape() == ImageShape{256, 341, 3});
  CHECK(composed(ResizeShort(256), {500, 375, 3}).shape() == ImageShape{341, 256, 3});
  CHECK(composed(ResizeShort(10), {20, 20, 3}).shape() == ImageShape{10, 10, 3});
  CHECK(ResizeShort(256).schema({375, 500, 3}) == Shape{256, 341, 3});
  CHECK(ResizeShort(256).schema({500, 375, 3}) == Shape{341, 256, 3});
  CHECK(ResizeShort(256).schema({500, dynamic, 3}) == open);
  CHECK(Resize({30, 40}).schema(open) == Shape{30, 40, 3});
  CHECK(code_of([] { composed(ResizeShort(1000), {1, 70000, 3}); }) == Errc::unsupported);
  CHECK(code_of([] { ResizeShort(0); }) == Errc::invalid_argument);
  CHECK(code_of([] { Resize({0, 1}); }) == Errc::invalid_argument);
}

TEST_CASE("flips and turns") {
  const ImageShape shape{4, 6, 3};
  CHECK(composed(Flip(Flip::Axis::horizontal), shape).flip_x);
  CHECK(composed(Flip(Flip::Axis::vertical), shape).flip_y);
  CHECK(composed(Rot90(-3), shape).to_string() == composed(Rot90(1), shape).to_string());
  CHECK(Rot90(1).schema({4, 6, 3}) == Shape{6, 4, 3});
  CHECK(Rot90(2).schema({4, 6, 3}) == Shape{4, 6, 3});
  CHECK(RandomRot90().schema({4, 6, 3}) == open);
  CHECK(RandomRot90().schema({4, 4, 3}) == Shape{4, 4, 3});
  int flips = 0, turns = 0;
  for (std::uint64_t position = 0; position < 10000; ++position) {
    flips += composed(RandomFlip(Flip::Axis::horizontal, {.p = 0.3}), shape, position).flip_x;
    turns += composed(RandomRot90(), shape, position).transpose;
    REQUIRE_FALSE(composed(RandomFlip(Flip::Axis::vertical, {.p = 0}), shape, position).flip_y);
    REQUIRE(composed(RandomFlip(Flip::Axis::vertical, {.p = 1}), shape, position).flip_y);
  }
  CHECK(flips == Approx(3000).margin(200));
  CHECK(turns == Approx(5000).margin(200));
  CHECK(code_of([] { RandomFlip(Flip::Axis::vertical, {.p = 1.5}); }) == Errc::invalid_argument);
  CHECK(code_of([] { RandomFlip(Flip::Axis::vertical, {.p = std::nan("")}); }) == Errc::invalid_argument);
}

TEST_CASE("normalize is (value / 255 - mean) / std") {
  const Normalize stage({.mean = {0.485, 0.456, 0.406}, .std = {0.229, 0.224, 0.225}});
  const ImageOp op = composed(stage, {2, 2, 3});
  CHECK(op.scale[0] == static_cast<float>(1 / (255 * 0.229)));
  CHECK(op.bias[2] == static_cast<float>(-0.406 / 0.225));
  CHECK(op.tensor_shape() == Shape{3, 2, 2});
  DType dtype = DType::u8;
  CHECK(stage.schema({224, dynamic, 3}, dtype) == Shape{3, 224, dynamic});
  CHECK(dtype == DType::f32);
  CHECK(composed(Normalize({.mean = {0.5}, .std = {0.5}}), {2, 2, 4}).bias[3] == -1);
  CHECK(code_of([&] { composed(stage, {2, 2, 1}); }) == Errc::unsupported);
  CHECK(code_of([&] { (void)stage.schema({2, 2, 1}, dtype); }) == Errc::schema_mismatch);
  CHECK(code_of([] { Normalize({.std = {0}}); }) == Errc::invalid_argument);
  for (const double mean : {0.0, 1.0, 0.5}) CHECK_NOTHROW(Normalize({.mean = {mean}}));
  for (const double mean : {-0.1, 1.001, 255.0, 1e9, double(NAN), double(INFINITY)})
    CHECK(code_of([mean] { Normalize({.mean = {0.5, mean, 0.5}}); }) == Errc::invalid_argument);
  const auto cause = [](const NormalizeOptions& options) {
    try {
      (void)normalize("image", options);
    } catch (const Error& error) {
      return error.cause();
    }
    return std::string();
  };
  CHECK(
      cause({.mean = {123.675, 116.28, 103.53}, .std = {58.395, 57.12, 57.375}}) ==
      "normalize: mean 123.675 is not of values 0 to 1, which pixels of 8 and of 16 bits are taken as: mean and std "
      "are "
      "of such values; of values 0 to 255, divide both by 255: mean 0.485; any other scale is convert's, with `.scale` "
      "and `.bias`");
  CHECK(cause({.mean = {31784}}).find("of values 0 to 65535, divide both by 65535: mean 0.485;") != std::string::npos);
  CHECK(cause({.mean = {-2}}).find("divide") == std::string::npos);
  CHECK(code_of([] { Normalize({.std = {1e-42}}); }) == Errc::invalid_argument);
  CHECK(code_of([] { Normalize({.mean = {0, 0}, .std = {1, 1, 1}}); }) == Errc::invalid_argument);
  CHECK(code_of([] { Normalize({.dtype = DType::u8}); }) == Errc::invalid_argument);
  CHECK(code_of([] { Convert({.dtype = DType::i32}); }) == Errc::invalid_argument);
  CHECK(code_of([] { Convert({.dtype = DType::u8, .scale = {2}}); }) == Errc::invalid_argument);
  CHECK(code_of([] { Convert({.scale = {}}); }) == Errc::invalid_argument);
  CHECK(code_of([] { Convert({.bias = {INFINITY}}); }) == Errc::invalid_argument);
}

TEST_CASE("every result option is in a stage's description") {
  CHECK(Crop({1, 2, 3, 4}).describe() == "3x4+1+2");
  CHECK(CenterCrop({3, 4}).describe() == "3x4");
  CHECK(RandomCrop({3, 4}).describe() == "3x4");
  CHECK(RandomCrop({9, 8}, {.padding = 2, .fill = {1, 2, 3}, .label = 255}).describe() ==
        "9x8, padding 2 with 1 2 3, labels 255");
  CHECK(RandomCrop({9, 8}, {.padding = 2, .mode = Padding::Mode::reflect}).describe() == "9x8, padding 2 reflect");
  CHECK(RandomResizedCrop({224, 192}).describe() == "224x192, scale 0.08..1, ratio 0.75..1.3333333333333333");
  CHECK(Resize({3, 4}).describe() == "3x4");
  CHECK(ResizeShort(9).describe() == "9");
  CHECK(RandomFlip(Flip::Axis::horizontal, {.p = 0.1}).describe() == "p 0.1");
  CHECK(Rot90(7).describe() == "3");
  CHECK(Normalize({.mean = {0.485, 0.1}, .std = {0.5}}).describe() == "f32 chw, mean 0.485 0.1, std 0.5");
  CHECK(Convert({.dtype = DType::f16}).describe() == "f16 hwc, scale 1, bias 0");
}

namespace {

// A stage as a user writes one.
struct Quarter {
  struct Params {
    int turns;
  };
  Params draw(const ImageShape&, Rng& rng) const { return {static_cast<int>(rng.below(4))}; }
  void compose(const Params& params, const ImageShape& shape, ImageOp& op) const {
    op.crop({0, 0, shape.height / 2, shape.width / 2});
    op.rot90(params.turns);
  }
  Shape schema(const Shape& in) const { return {dynamic, dynamic, in[2]}; }
  std::string name() const { return "quarter"; }
};

Memory pictures(int count, const ImageShape& shape) {
  std::vector<std::uint8_t> all;
  for (int i = 0; i < count; ++i) {
    const Image image = photo(shape, static_cast<std::uint64_t>(i));
    all.insert(all.end(), image.pixels.begin(), image.pixels.end());
  }
  Memory memory;
  memory.add<std::uint8_t>("image", {shape.height, shape.width, shape.channels}, std::move(all));
  return memory;
}

}  // namespace

TEST_CASE("a crop of a padded image has every place, and the fill where there is no image") {
  const ImageShape shape{6, 7, 3};
  const Image image = static_noise(shape);
  const RandomCrop stage({6, 7}, {.padding = 2, .fill = {10, 20, 30}});
  const Image padded =
      reference_pad(image, {.top = 2, .left = 2, .bottom = 2, .right = 2, .fill = {10, 20, 30, 30}}, false);
  std::set<std::pair<std::int32_t, std::int32_t>> places;
  for (std::uint64_t position = 0; position < 600; ++position) {
    Rng rng(1, 2, Place{0, position, 0, 0});
    const RandomCrop::Params at = stage.draw(shape, rng);
    ImageOp op(shape);
    stage.compose(at, shape, op);
    REQUIRE_FALSE(op.refused());
    REQUIRE(execute_u8(image, op) == cut(padded, {at.top, at.left, 6, 7}));
    places.emplace(at.top, at.left);
  }
  CHECK(places.size() == 25);
  // Without padding nothing is drawn in another way than it was.
  Rng one(1, 2, Place{}), two(1, 2, Place{});
  const RandomCrop::Params a = RandomCrop({3, 3}).draw(shape, one),
                           b = RandomCrop({3, 3}, {.fill = {9}}).draw(shape, two);
  CHECK((a.top == b.top && a.left == b.left));
  ImageOp op(shape);
  CHECK(code_of([&] {
          RandomCrop({3, 3}, {.padding = 1, .fill = {1, 2}}).compose(a, shape, op);
        }) == Errc::unsupported);
  CHECK(RandomCrop({10, 11}, {.padding = 2}).schema({6, 7, 3}) == Shape{10, 11, 3});
  CHECK(code_of([] {
          static_cast<void>(RandomCrop({11, 11}, {.padding = 2}).schema({6, 7, 3}));
        }) == Errc::schema_mismatch);
}

TEST_CASE("padding folds with its neighbours, and an image and its mask share its draw") {
  const ImageShape shape{32, 32, 3};
  const auto chains = [](const Pipeline& p) {
    return std::vector<Pipeline>{
        p | random_crop("image", {32, 32}, {.padding = 4}) | random_flip("image") | normalize("image"),
        p | resize("image", {20, 24}) | random_crop("image", {20, 20}, {.padding = 6, .fill = {7}}) |
            random_rot90("image"),
        p | random_flip("image") | random_crop("image", {30, 33}, {.padding = 9, .mode = Padding::Mode::reflect}) |
            resize("image", {40, 41}) | center_crop("image", {33, 33}),
        p | random_crop("image", {32, 32}, {.padding = 3}) |
            random_crop("image", {30, 30}, {.padding = 5, .fill = {1}})};
  };
  for (const Pipeline& chain : chains(from(pictures(12, shape)))) {
    INFO(chain.plan());
    const std::vector<std::byte> folded = all_bytes(chain | batch(5));
    CHECK(all_bytes(chain | check({.fold = false}) | batch(5)) == folded);
  }
  // Labels that are the image's red: they stay that, but for the fill of their own.
  Memory both = pictures(12, shape);
  std::vector<std::uint8_t> red;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const Image image = photo(shape, i);
    for (std::size_t k = 0; k < image.pixels.size(); k += 3) red.push_back(image.pixels[k] == 9 ? 8 : image.pixels[k]);
  }
  both.add<std::uint8_t>("mask", {32, 32, 1}, std::move(red));
  const Pipeline crops =
      from(both) | random_crop({"image", "mask"}, {32, 32}, {.padding = 4, .fill = {3, 4, 5}, .label = 9});
  int filled = 0;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const OwnedSample sample = crops.at(i);
    const auto* image = reinterpret_cast<const std::uint8_t*>(sample["image"].data);
    const auto* mask = reinterpret_cast<const std::uint8_t*>(sample["mask"].data);
    for (std::size_t k = 0; k < 32 * 32; ++k) {
      filled += mask[k] == 9;
      REQUIRE((mask[k] == 9 ? image[3 * k] == 3 && image[3 * k + 1] == 4 && image[3 * k + 2] == 5
                            : mask[k] == image[3 * k] || (mask[k] == 8 && image[3 * k] == 9)));
    }
  }
  CHECK(filled > 100);
}

TEST_CASE("stages in a pipeline give what they give one by one") {
  const ImageShape shape{61, 83, 3};
  const Pipeline pipeline = from(pictures(12, shape)) | random_crop("image", {60, 70}) |
                            image_stage("image", Quarter{}) | random_flip("image") |
                            random_resized_crop("image", {32, 32}) | random_rot90("image") | resize("image", {20, 24}) |
                            normalize("image");
  CHECK(pipeline.schema().at("image").shape == Shape{3, 20, 24});
  CHECK(pipeline.schema().at("image").dtype == DType::f32);
  for (std::uint64_t position = 0; position < 12; ++position) {
    const OwnedSample sample = pipeline.at(position);
    const View<float, 3> values = sample["image"].as<float, 3>();
    CHECK(values.extent(1) == 20);
    for (const float value : values) REQUIRE((value >= 0 && value <= 1));
  }
}

TEST_CASE("channels that don't come last are refused where the stage joins the pipeline") {
  for (const Shape& shape : {Shape{3, 32, 32}, Shape{1, 28, 28}, Shape{dynamic, dynamic, 5}, Shape{0, 0, 64}}) {
    const Error error = error_of([&] { (void)(from(Pictures{shape}) | random_flip("image")); });
    CHECK(error.code() == Errc::schema_mismatch);
    CHECK(mentions(error, "image stages take [H, W, C] with 1 to 4 channels, and its last dimension is " +
                              std::to_string(shape[2])));
    CHECK(mentions(error, "move the channels there by a map before it"));
  }
  for (const Shape& shape :
       {Shape{32, 32, 3}, Shape{3, 32, 4}, Shape{3, 32, dynamic}, Shape{32, 32, dynamic}, Shape{2, 2, 1}}) {
    const std::string plan = (from(Pictures{shape}) | random_flip("image")).plan();
    INFO(plan);
    CHECK((plan.find("is taken as [H, W, C]") != std::string::npos) == (shape[0] <= 4));
  }
}
