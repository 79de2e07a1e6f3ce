// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstring>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/image/reference.hpp"
#include "transforms/image/targets.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// An op with a resample and everything around it, on an image of that shape.
ImageOp random_op(Numbers& numbers, const ImageShape& shape, Size to) {
  ImageOp op(shape);
  if (numbers.coin()) {
    Box box{0, 0, numbers.from((shape.height + 1) / 2, shape.height), numbers.from((shape.width + 1) / 2, shape.width)};
    box.top = numbers.from(0, shape.height - box.height);
    box.left = numbers.from(0, shape.width - box.width);
    op.crop(box);
  }
  if (numbers.coin()) op.flip_horizontal();
  if (numbers.coin()) op.flip_vertical();
  op.resize(to);
  if (numbers.coin()) {
    Box window{0, 0, numbers.from(1, to.height), numbers.from(1, to.width)};
    window.top = numbers.from(0, to.height - window.height);
    window.left = numbers.from(0, to.width - window.width);
    op.crop(window);
  }
  if (numbers.coin()) op.flip_horizontal();
  if (numbers.coin()) op.flip_vertical();
  op.rot90(numbers.below(8) - 4);
  return op;
}

}  // namespace

TEST_CASE("every target resamples to the bits of the plain reference") {
  for (std::uint64_t seed = 0; seed < 250; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed + 1000);
    const int most = seed % 5 == 0 ? 300 : 90;
    const ImageShape shape{numbers.from(1, most), numbers.from(1, most), numbers.from(1, 4)};
    const Size to{numbers.from(1, 100), numbers.from(1, 100)};
    const Image source = static_noise(shape, seed);
    const ImageOp op = random_op(numbers, shape, to);
    const Image expected = reference_run(source, op);
    CAPTURE(op.to_string(), shape.height, shape.width, shape.channels);
    on_every_target([&] { REQUIRE(execute_u8(source, op) == expected); });
  }
}

TEST_CASE("every target resamples the usual sizes to the bits of the plain reference") {
  const ImageShape shapes[] = {{300, 400, 3}, {140, 180, 3}, {375, 500, 1},
                               {224, 400, 3}, {300, 224, 4}, {300, 400, 2}};
  for (const ImageShape& shape : shapes) {
    const Image source = photo(shape);
    for (const bool flip : {false, true}) {
      ImageOp op(shape);
      op.resize({224, 224});
      if (flip) op.flip_horizontal();
      const Image expected = reference_run(source, op);
      CAPTURE(op.to_string(), shape.channels);
      on_every_target([&] { REQUIRE(execute_u8(source, op) == expected); });
    }
  }
}

TEST_CASE("no value is more than 1 from the exact filter") {
  double worst = 0, squares = 0;
  std::size_t count = 0;
  const auto compare = [&](const Image& source, Size to) {
    ImageOp op(source.shape);
    op.resize(to);
    const Image result = execute_u8(source, op);
    const std::vector<double> exact = exact_resize(source, to);
    for (std::size_t j = 0; j < exact.size(); ++j) {
      const double error = std::abs(result.pixels[j] - exact[j]);
      worst = std::max(worst, error);
      squares += error * error;
      REQUIRE(std::abs(result.pixels[j] - std::floor(exact[j] + 0.5)) <= 1);
    }
    count += exact.size();
  };
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed + 5);
    const ImageShape shape{numbers.from(1, 400), numbers.from(1, 400), numbers.from(1, 4)};
    const Size to{numbers.from(1, 240), numbers.from(1, 240)};
    Image source = seed % 3 == 0 ? photo(shape, seed) : static_noise(shape, seed);
    // Black and white: the largest errors a weight can cause.
    if (seed % 3 == 1)
      for (auto& value : source.pixels) value = value < 128 ? 0 : 255;
    compare(source, to);
  }
  for (const int in : {61, 62, 63, 64, 65, 127, 500, 1999, 5000}) {
    for (const int out : {1, 2, 4}) {
      CAPTURE(in, out);
      Image column = static_noise({in, 7, 3}, 9), row = static_noise({7, in, 3}, 9);
      for (auto* image : {&column, &row})
        for (auto& value : image->pixels) value = value < 128 ? 0 : 255;
      compare(column, {out, 7}), compare(row, {7, out}), compare(column, {out, 3}), compare(row, {3, out});
    }
  }
  std::printf("resample: worst error %.3f, rms %.3f of %zu values\n", worst,
              std::sqrt(squares / static_cast<double>(count)), count);
  CHECK(worst < 1.2);
}

TEST_CASE("a flat image stays flat") {
  for (int value = 0; value < 256; ++value) {
    for (const Size to : {Size{7, 5}, Size{50, 31}, Size{1, 1}, Size{20, 64}}) {
      Image source({31, 64, 3});
      for (auto& v : source.pixels) v = static_cast<std::uint8_t>(value);
      ImageOp op(source.shape);
      op.resize(to);
      for (const auto v : execute_u8(source, op).pixels) REQUIRE(v == value);
    }
  }
  Image source({2000, 900, 1});
  for (auto& v : source.pixels) v = 255;
  ImageOp op(source.shape);
  op.resize({3, 4});
  for (const auto v : execute_u8(source, op).pixels) REQUIRE(v == 255);
}

TEST_CASE("a window is the same part of the whole result") {
  const Image source = photo({120, 150, 3});
  ImageOp whole(source.shape);
  whole.resize({70, 60});
  const Image all = execute_u8(source, whole);
  for (int top = 0; top < 70; top += 13) {
    for (int left = 0; left < 60; left += 7) {
      const Box window{top, left, std::min(17, 70 - top), std::min(9, 60 - left)};
      ImageOp op = whole;
      op.crop(window);
      REQUIRE(execute_u8(source, op) == cut(all, window));
    }
  }
}

TEST_CASE("images without a resample are copied, mirrored and turned on every target") {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed + 4000);
    const ImageShape shape{numbers.from(1, 70), numbers.from(1, 150), numbers.from(1, 4)};
    const Image source = static_noise(shape, seed);
    ImageOp op(shape);
    if (numbers.coin()) op.crop({0, 0, (shape.height + 1) / 2, (shape.width + 1) / 2});
    if (numbers.coin()) op.flip_horizontal();
    if (numbers.coin()) op.flip_vertical();
    op.rot90(numbers.below(4));
    const Image expected = reference_run(source, op);
    on_every_target([&] { REQUIRE(execute_u8(source, op) == expected); });
  }
}

}  // namespace PENSTOCK_TEST_FILE
