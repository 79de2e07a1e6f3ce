// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <penstock/error.hpp>
#include <penstock/extend/image_op.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/image/reference.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

const std::array<float, 4> ones{1, 1, 1, 1}, zeros{0, 0, 0, 0};

// One call, on the op and on a whole image.
struct Call {
  enum Kind { crop, resize, flip_horizontal, flip_vertical, rot90, pad } kind;
  Box box;
  Size size;
  int quarters = 0;
  Filter filter = Filter::linear;
  Padding padding = {};

  void on(ImageOp& op) const {
    switch (kind) {
      case crop:
        return op.crop(box);
      case resize:
        op.filter_with(filter);
        return op.resize(size);
      case flip_horizontal:
        return op.flip_horizontal();
      case flip_vertical:
        return op.flip_vertical();
      case rot90:
        return op.rot90(quarters);
      case pad:
        op.filter_with(filter);
        return op.pad(padding);
    }
  }
  Image on(const Image& image) const {
    switch (kind) {
      case crop:
        return cut(image, box);
      case resize:
        return filter == Filter::nearest ? reference_nearest(image, size) : reference_resize(image, size);
      case flip_horizontal:
        return reference_flip_horizontal(image);
      case flip_vertical:
        return reference_flip_vertical(image);
      case pad:
        return reference_pad(image, padding, filter == Filter::nearest);
      case rot90:
        break;
    }
    Image turned = image;
    for (int k = 0; k < (quarters % 4 + 4) % 4; ++k) turned = reference_rot90(turned);
    return turned;
  }
};

Call random_call(Numbers& numbers, Size now) {
  Call call{static_cast<Call::Kind>(numbers.below(6)), {}, {}, numbers.from(-5, 5)};
  call.box.height = numbers.from((now.height + 1) / 2, now.height);
  call.box.width = numbers.from((now.width + 1) / 2, now.width);
  call.box.top = numbers.from(0, now.height - call.box.height);
  call.box.left = numbers.from(0, now.width - call.box.width);
  call.filter = numbers.coin() ? Filter::nearest : Filter::linear;
  call.size = numbers.below(4) == 0 ? now : Size{numbers.from(1, 30), numbers.from(1, 30)};
  Padding& p = call.padding;
  p.mode = numbers.coin() ? Padding::Mode::reflect : Padding::Mode::constant;
  const bool reflects = p.mode == Padding::Mode::reflect;
  for (std::int32_t* side : {&p.top, &p.bottom}) *side = numbers.below(reflects ? std::min(now.height, 7) : 7);
  for (std::int32_t* side : {&p.left, &p.right}) *side = numbers.below(reflects ? std::min(now.width, 7) : 7);
  for (std::uint16_t& value : p.fill) value = static_cast<std::uint16_t>(numbers.below(2) * 200);
  p.label = 200;
  return call;
}

// Two neighbouring bytes as one value.
Image as_wide(const Image& image) {
  Image wide({image.shape.height, image.shape.width, image.shape.channels / 2, DType::u16});
  wide.pixels = image.pixels;
  return wide;
}

}  // namespace

TEST_CASE("a folded op gives the bits of its calls one by one") {
  int restarts = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed);
    const ImageShape shape{numbers.from(1, 40), numbers.from(1, 40), numbers.from(1, 4)};
    const Image source = static_noise(shape, seed);
    Image by_steps = source, start = source;
    ImageOp op(shape);
    for (int n = numbers.from(1, 8); n > 0; --n) {
      const Call call = random_call(numbers, by_steps.shape.size());
      by_steps = call.on(by_steps);
      const ImageOp before = op;
      call.on(op);
      if (op.refused()) {
        CHECK(op.to_string() == before.to_string());
        start = execute_u8(start, before);
        op = ImageOp(start.shape);
        call.on(op);
        ++restarts;
      }
      REQUIRE_FALSE(op.refused());
      REQUIRE(op.shape() == by_steps.shape);
      if (!op.resamples()) {
        REQUIRE(op.box.size() == op.kept.size());
        REQUIRE_FALSE((op.mirror_x || op.mirror_y));
      }
    }
    REQUIRE(execute_u8(start, op) == by_steps);
    REQUIRE(reference_run(start, op) == by_steps);
  }
  CHECK(restarts > 500);
}

TEST_CASE("an image of 16 bits goes the way that its bytes go side by side") {
  int padded = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed + 5);
    const ImageShape shape{numbers.from(1, 30), numbers.from(1, 30), 2 * numbers.from(1, 2)};
    const Image bytes = static_noise(shape, seed), wide = as_wide(bytes);
    ImageOp narrow_op(bytes.shape), wide_op(wide.shape);
    for (int n = numbers.from(1, 8); n > 0; --n) {
      Call call = random_call(numbers, narrow_op.shape().size());
      call.filter = Filter::nearest;
      call.padding.label = 0xabab;
      ImageOp next = wide_op;
      call.on(next);
      if (next.refused()) continue;
      wide_op = next;
      call.padding.label = 0xab;
      call.on(narrow_op);
    }
    padded += wide_op.pads();
    REQUIRE(wide_op.shape().size() == narrow_op.shape().size());
    REQUIRE(execute_u8(wide, wide_op).pixels == execute_u8(bytes, narrow_op).pixels);
  }
  CHECK(padded > 300);
}

TEST_CASE("padding that can't be is refused") {
  ImageOp op({10, 20, 3});
  const auto refused = [&](const Padding& padding) {
    return code_of([&] { op.pad(padding); }) == Errc::invalid_argument;
  };
  CHECK(refused({.top = -1}));
  CHECK(refused({.right = (1 << 20) + 1}));
  CHECK(refused({.top = 10, .mode = Padding::Mode::reflect}));
  CHECK(refused({.top = 1, .fill = {0, 0, 256}}));
  CHECK(op.plain());
  op.pad({});
  CHECK(op.plain());
  op.pad({.top = 1, .left = 2, .fill = {1, 2, 3}}), op.pad({.top = 1, .right = 1, .fill = {1, 2, 3}});
  CHECK(op.shape() == ImageShape{12, 23, 3});
  CHECK(op.to_string() == "box 10x20+0+0, pad 2+2+0+1 with 1 2 3");
  SECTION("a resample after it") { op.resize({5, 5}); }
  SECTION("padding of another kind") { op.pad({.top = 1}); }
  SECTION("padding that reflects") { op.pad({.top = 1, .mode = Padding::Mode::reflect}); }
  SECTION("nothing but padding") { op.crop({0, 0, 2, 5}); }
  SECTION("after a conversion") { op.convert(DType::f32, Layout::chw, ones, zeros), op.pad({.top = 1}); }
  CHECK(op.refused());
}

TEST_CASE("sides of padding that reflects are each narrower than the image, and together they may be wider") {
  const Image source = static_noise({10, 20, 3}, 1);
  for (const auto& [padding, size] :
       {std::pair(Padding{.top = 9, .bottom = 9, .mode = Padding::Mode::reflect}, Size{28, 20}),
        {{.left = 19, .right = 19, .mode = Padding::Mode::reflect}, {10, 58}}}) {
    ImageOp op(source.shape);
    op.pad(padding);
    CHECK_FALSE(op.refused());
    CHECK(op.shape().size() == size);
    CHECK(execute_u8(source, op).pixels == reference_pad(source, padding, false).pixels);
  }
  for (std::int32_t Padding::*const side : {&Padding::top, &Padding::bottom, &Padding::left, &Padding::right}) {
    Padding padding{.mode = Padding::Mode::reflect};
    padding.*side = side == &Padding::top || side == &Padding::bottom ? 10 : 20;
    ImageOp op(source.shape);
    CHECK(code_of([&] { op.pad(padding); }) == Errc::invalid_argument);
  }
}

TEST_CASE("crops narrow the box before a resize and what is kept after it") {
  ImageOp op({100, 200, 3});
  op.flip_horizontal();
  op.crop({10, 20, 50, 60});
  CHECK(op.box == Box{10, 120, 50, 60});
  CHECK(op.kept == Box{0, 0, 50, 60});
  op.resize({25, 30});
  CHECK(op.mirror_x);
  CHECK_FALSE(op.flip_x);
  op.crop({5, 6, 7, 8});
  CHECK(op.box == Box{10, 120, 50, 60});
  CHECK(op.kept == Box{5, 6, 7, 8});
  CHECK(op.shape() == ImageShape{7, 8, 3});
}

TEST_CASE("what a value can't express is refused and changes nothing") {
  ImageOp op({10, 20, 3});
  SECTION("a second resample") { op.resize({5, 5}), op.resize({6, 6}); }
  SECTION("a resample after a transpose") { op.rot90(1), op.resize({6, 6}); }
  SECTION("a resample after a conversion") { op.convert(DType::f32, Layout::chw, ones, zeros), op.resize({6, 6}); }
  SECTION("a second conversion") {
    op.convert(DType::f32, Layout::chw, ones, zeros);
    op.convert(DType::f16, Layout::chw, ones, zeros);
  }
  CHECK(op.refused());
  const std::string then = op.to_string();
  op.flip_horizontal(), op.rot90(1), op.crop({0, 0, 1000, 1000}), op.resize({1, 1});
  CHECK(op.to_string() == then);
}

TEST_CASE("a resize to the size there is does nothing") {
  ImageOp op({10, 20, 3});
  op.rot90(1);
  op.resize({20, 10});
  op.flip_horizontal();
  op.resize({20, 10});
  CHECK_FALSE(op.refused());
  CHECK_FALSE(op.resamples());
  op.rot90(3), op.flip_vertical();
  CHECK(op.plain());
}

TEST_CASE("boxes, sizes and conversions that can't be are refused") {
  ImageOp op({10, 20, 3});
  const std::int32_t most = INT32_MAX;
  for (const Box& box :
       {Box{0, 0, 0, 5}, Box{0, 0, 5, 0}, Box{-1, 0, 5, 5}, Box{0, -1, 5, 5}, Box{6, 0, 5, 5}, Box{0, 16, 5, 5},
        Box{0, 0, 11, 5}, Box{most, 0, 5, 5}, Box{1, 1, most, most}, Box{0, 0, -5, 5}})
    CHECK(code_of([&] { op.crop(box); }) == Errc::invalid_argument);
  op.rot90(1);
  op.crop({15, 5, 5, 5});
  for (const Size size : {Size{0, 5}, Size{5, 0}, Size{-1, 5}})
    CHECK(code_of([&] { op.resize(size); }) == Errc::invalid_argument);
  CHECK(code_of([&] { op.convert(DType::i32, Layout::hwc, ones, zeros); }) == Errc::invalid_argument);
  CHECK(code_of([&] { op.convert(DType::u8, Layout::hwc, {2, 1, 1, 1}, zeros); }) == Errc::invalid_argument);
  CHECK(code_of([&] { op.convert(DType::u8, Layout::hwc, ones, {0, 0, 1, 0}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { op.convert(DType::f32, Layout::hwc, {1, 1, INFINITY, 1}, zeros); }) == Errc::invalid_argument);
  for (const ImageShape& shape : {ImageShape{0, 5, 3}, ImageShape{5, 0, 3}, ImageShape{5, 5, 0}, ImageShape{5, 5, 5},
                                  ImageShape{5, 5, 3, DType::f32}})
    CHECK(code_of([&] { ImageOp{shape}; }) == Errc::invalid_argument);
}

TEST_CASE("an op says its shape and itself") {
  ImageOp op({300, 400, 3});
  op.crop({12, 40, 280, 300}), op.flip_horizontal(), op.resize({224, 112}), op.rot90(1);
  op.convert(DType::f16, Layout::chw, ones, zeros);
  CHECK(op.shape() == ImageShape{112, 224, 3});
  CHECK(op.tensor_shape() == Shape{3, 112, 224});
  CHECK(op.to_string() == "box 280x300+12+40, mirror -> 224x112, transpose, flip_vertical, f16 chw");
  ImageOp labels({30, 40, 1});
  labels.filter_with(Filter::nearest), labels.resize({15, 20}), labels.crop({1, 2, 3, 4});
  CHECK(labels.to_string() == "box 30x40+0+0 -> 15x20 nearest, kept 3x4+1+2");
}
