// SPDX-License-Identifier: Apache-2.0
// What a thread of the image kernel makes of four pixels is what the host makes pixel by pixel.
#include "image/pixel_quad.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <penstock/extend/rng.hpp>

#include "image/device_image.hpp"

using namespace penstock::detail;

namespace {

using QuadResult = PixelWork::Result;

// Whole words at both ends, as the memory of a batch has them.
class Words {
 public:
  explicit Words(std::size_t bytes) : words_((bytes + 3) / 4 + 2, 0xcdcdcdcd) {}
  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(words_.data() + 1); }
  bool operator==(const Words&) const = default;

 private:
  std::vector<std::uint32_t> words_;
};

template <QuadResult result, bool planar, int channels>
void make_by_quads(const PixelWork& work) {
  for (std::uint64_t image = 0; image < work.images; ++image)
    for (std::int32_t y = 0; y < work.height; ++y)
      for (std::int32_t x = 0; x < work.width; x += quad_pixels)
        work.width % quad_pixels == 0 ? make_quad<result, planar, channels, true>(work, image, y, x)
                                      : make_quad<result, planar, channels, false>(work, image, y, x);
}

template <QuadResult result, bool planar>
void make_by_quads(const PixelWork& work) {
  switch (work.channels) {
    case 1:
      return make_by_quads<result, planar, 1>(work);
    case 2:
      return make_by_quads<result, planar, 2>(work);
    case 3:
      return make_by_quads<result, planar, 3>(work);
    default:
      return make_by_quads<result, planar, 4>(work);
  }
}

void make_by_quads(const PixelWork& work) {
  switch (work.result) {
    case QuadResult::u8:
      return work.planar ? make_by_quads<QuadResult::u8, true>(work) : make_by_quads<QuadResult::u8, false>(work);
    case QuadResult::f16:
      return work.planar ? make_by_quads<QuadResult::f16, true>(work) : make_by_quads<QuadResult::f16, false>(work);
    case QuadResult::bf16:
      return work.planar ? make_by_quads<QuadResult::bf16, true>(work) : make_by_quads<QuadResult::bf16, false>(work);
    case QuadResult::f32:
      return work.planar ? make_by_quads<QuadResult::f32, true>(work) : make_by_quads<QuadResult::f32, false>(work);
  }
}

// An operation that makes a result of the work's size from its images: a box, turned or not, with a margin or none.
PixelOp some_op(const PixelWork& work, penstock::Rng& random) {
  PixelOp op;
  op.turns = static_cast<std::uint32_t>(random.below(16));
  const bool turned = (op.turns & PixelOp::transpose) != 0;
  const std::int32_t height = turned ? work.width : work.height, width = turned ? work.height : work.width;
  // The box with its margin is as large as the result; a reflected margin is smaller than the box.
  const auto margin = [&](std::int32_t size, std::int32_t in, std::int32_t& before, std::int32_t& after) {
    const std::int32_t least = size > in ? size - in : 0, most = (size - 1) / 3 > least ? (size - 1) / 3 : least;
    const std::int32_t whole = least + static_cast<std::int32_t>(random.below(static_cast<unsigned>(most - least + 1)));
    before = static_cast<std::int32_t>(random.below(static_cast<unsigned>(whole) + 1));
    after = whole - before;
    const std::int32_t room = in - (size - whole);
    return static_cast<std::int32_t>(random.below(static_cast<unsigned>(room) + 1));
  };
  op.top = margin(height, work.in_height, op.above, op.below);
  op.left = margin(width, work.in_width, op.before, op.after);
  for (int c = 0; c < 4; ++c) {
    op.scale[c] = static_cast<float>(random.below(1000)) / 4567.0f;
    op.bias[c] = static_cast<float>(random.below(1000)) / 321.0f - 1.5f;
    op.fill[c] = static_cast<std::uint8_t>(random.below(256));
  }
  return op;
}

}  // namespace

TEST_CASE("four pixels at a time have the bits of each by itself") {
  penstock::Rng random(5, 0, penstock::Place{.position = 0});
  for (int round = 0; round < 3000; ++round) {
    PixelWork work;
    work.images = 2;
    work.channels = 1 + static_cast<std::int32_t>(random.below(4));
    work.height = 1 + static_cast<std::int32_t>(random.below(12));
    work.width = 1 + static_cast<std::int32_t>(random.below(21));
    // As large as what any turn wants of them, less a margin.
    const std::int32_t least = std::max(work.height, work.width) * 2 / 3 + 1;
    work.in_height = least + static_cast<std::int32_t>(random.below(15));
    work.in_width = least + static_cast<std::int32_t>(random.below(15));
    work.result = std::array{QuadResult::u8, QuadResult::f16, QuadResult::bf16, QuadResult::f32}[random.below(4)];
    work.planar = random.below(2) == 0;
    INFO("round " << round << ": " << work.in_height << "x" << work.in_width << "x" << work.channels << " to "
                  << work.height << "x" << work.width << ", planar " << work.planar << ", result "
                  << static_cast<int>(work.result));
    const auto images = static_cast<std::size_t>(work.images), channels = static_cast<std::size_t>(work.channels);
    Words in(images * static_cast<std::size_t>(work.in_height * work.in_width) * channels);
    for (std::size_t i = 0; i < images * static_cast<std::size_t>(work.in_height * work.in_width) * channels; ++i)
      in.data()[i] = static_cast<std::uint8_t>(random.below(256));
    const std::size_t numbers = images * static_cast<std::size_t>(work.height * work.width) * channels;
    Words wanted(numbers * sizeof(float)), got = wanted;
    const std::vector<PixelOp> ops{some_op(work, random), some_op(work, random)};
    work.in = in.data();
    work.ops = ops.data();
    work.out = wanted.data();
    make_pixels(work);
    work.out = got.data();
    make_by_quads(work);
    REQUIRE(got == wanted);
  }
}
