// SPDX-License-Identifier: Apache-2.0
// What an ImageOp says it needs of an image is all that is read of it.
#include <penstock/extend/image_op.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <penstock/transforms/image/stage.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

Box random_box(Numbers& numbers, Size within) {
  const std::int32_t height = numbers.from(1, within.height), width = numbers.from(1, within.width);
  return {numbers.from(0, within.height - height), numbers.from(0, within.width - width), height, width};
}

// Crop, flips, resize, crop; some of them.
ImageOp random_op(Numbers& numbers, const ImageShape& shape) {
  ImageOp op(shape);
  if (numbers.coin()) op.filter_with(Filter::nearest);
  if (numbers.coin()) op.crop(random_box(numbers, op.shape().size()));
  if (numbers.coin()) op.flip_horizontal();
  if (numbers.coin()) op.flip_vertical();
  if (numbers.below(4) != 0) op.resize({numbers.from(1, 90), numbers.from(1, 90)});
  if (numbers.coin()) op.crop(random_box(numbers, op.shape().size()));
  if (numbers.coin()) op.flip_horizontal();
  return op;
}

std::vector<std::byte> result_of(const Image& image, const ImageOp& op) {
  const ImageShape shape = op.shape();
  std::vector<std::byte> out(static_cast<std::size_t>(shape.height * shape.width) * shape.pixel_bytes());
  TestScratch scratch;
  image_executor().run(image.view(op.box), op, out.data(), scratch);
  return out;
}

}  // namespace

TEST_CASE("an executor reads no pixel but those that an operation needs") {
  Numbers numbers(3);
  std::size_t smaller = 0;
  for (int round = 0; round < 1500; ++round) {
    const ImageShape shape{numbers.from(1, 70), numbers.from(1, 70), numbers.from(1, 4)};
    const Image image = static_noise(shape, static_cast<std::uint64_t>(round));
    const ImageOp op = random_op(numbers, shape);
    REQUIRE_FALSE(op.refused());
    const Box needed = op.needed();
    CAPTURE(round, op.to_string(), needed.top, needed.left, needed.height, needed.width);
    REQUIRE(needed.top >= op.box.top);
    REQUIRE(needed.left >= op.box.left);
    REQUIRE(needed.top + needed.height <= op.box.top + op.box.height);
    REQUIRE(needed.left + needed.width <= op.box.left + op.box.width);
    if (!(needed == op.box)) ++smaller;
    Image other = static_noise(shape, 99'999);
    for (std::int32_t y = needed.top; y < needed.top + needed.height; ++y)
      for (std::int32_t x = needed.left; x < needed.left + needed.width; ++x)
        for (std::int32_t c = 0; c < shape.channels; ++c) other.at(y, x, c) = image.at(y, x, c);
    REQUIRE(result_of(other, op) == result_of(image, op));
  }
  CHECK(smaller > 300);
}
