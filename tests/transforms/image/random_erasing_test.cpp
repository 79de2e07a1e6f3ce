// SPDX-License-Identifier: Apache-2.0
// random_erasing: boxes against their options, on either side of batch, on emulated GPUs.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <penstock/error.hpp>
#include <penstock/extend/bfloat16.hpp>
#include <penstock/extend/half.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/image/both_sides.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Params = RandomErasing::Params;

struct Images {
  DType dtype = DType::u8;
  Shape shape = {12, 17, 3};
  std::uint64_t count = 41, bad = ~std::uint64_t{0};
  std::uint64_t size() const { return count; }
  Schema schema() const { return {{"image", dtype, shape}}; }
  void read(std::uint64_t record, SampleBuilder& out) const {
    if (record == bad) throw Error(Errc::corrupt, "planted");
    const TensorView image = out.emplace(0, shape);
    for (std::size_t i = 0; i < image.bytes(); ++i) image.data[i] = static_cast<std::byte>(record * 7 + i * 13 + 1);
  }
};

Params drawn(const RandomErasing& erasing, std::uint64_t place) {
  Rng rng(3, 8, {0, place, 0, 0});
  return erasing.draw(rng);
}

std::string cause(const std::function<void()>& f) { return error_of(f).cause(); }

}  // namespace

TEST_CASE("boxes of random_erasing have the probability, the areas and the ratios of the options") {
  const RandomErasing erasing({.probability = 0.3, .area = {0.1, 0.2}, .aspect = {0.5, 2}});
  constexpr Size size{400, 300};
  constexpr int count = 20'000;
  int erased = 0, tall = 0, upper = 0, lefter = 0;
  double areas = 0, logs = 0;
  for (int i = 0; i < count; ++i) {
    const Box box = RandomErasing::box(drawn(erasing, static_cast<std::uint64_t>(i)), size);
    if (box.height == 0) continue;
    ++erased;
    REQUIRE(
        (box.top >= 0 && box.left >= 0 && box.top + box.height <= size.height && box.left + box.width <= size.width));
    const double area = static_cast<double>(box.height) * box.width / (400. * 300),
                 ratio = static_cast<double>(box.height) / box.width;
    CHECK((area > 0.098 && area < 0.202));
    CHECK((ratio > 0.49 && ratio < 2.05));
    areas += area;
    logs += std::log(ratio);
    tall += ratio > 1;
    upper += 2 * box.top + box.height < size.height;
    lefter += 2 * box.left + box.width < size.width;
  }
  CHECK(std::abs(erased / static_cast<double>(count) - 0.3) < 0.015);
  CHECK(std::abs(areas / erased - 0.15) < 0.002);
  CHECK(std::abs(logs / erased) < 0.03);
  for (const int half : {tall, upper, lefter}) CHECK(std::abs(half / static_cast<double>(erased) - 0.5) < 0.03);
}

TEST_CASE("random_erasing erases the box and nothing else") {
  for (const DType dtype : {DType::u8, DType::f32, DType::f16, DType::bf16})
    for (const bool chw : {false, true}) {
      const RandomErasing erasing({.probability = 1, .value = {7, 8, 9}});
      const Shape shape = chw ? Shape{3, 12, 17} : Shape{12, 17, 3};
      std::vector<std::byte> in(12 * 17 * 3 * size_of(dtype), std::byte{0x21}), out(in.size());
      for (std::uint64_t place = 0; place < 50; ++place) {
        const Params params = drawn(erasing, place);
        const Box box = RandomErasing::box(params, {12, 17});
        REQUIRE(box.height > 0);
        erasing.apply(params, {in.data(), dtype, shape}, {out.data(), dtype, shape});
        for (int c = 0; c < 3; ++c) {
          const auto value = static_cast<float>(7 + c);
          const std::uint8_t byte = static_cast<std::uint8_t>(7 + c);
          const std::uint16_t half = dtype == DType::f16 ? to_half(value) : to_bfloat16(value);
          std::byte erased[4] = {};
          if (dtype == DType::u8) std::memcpy(erased, &byte, 1);
          if (dtype == DType::f32) std::memcpy(erased, &value, 4);
          if (size_of(dtype) == 2) std::memcpy(erased, &half, 2);
          for (int y = 0; y < 12; ++y)
            for (int x = 0; x < 17; ++x) {
              const auto i =
                  static_cast<std::size_t>(chw ? (c * 12 + y) * 17 + x : (y * 17 + x) * 3 + c) * size_of(dtype);
              const bool inside = y >= box.top && y < box.top + box.height && x >= box.left && x < box.left + box.width;
              REQUIRE(std::memcmp(&out[i], inside ? erased : &in[i], size_of(dtype)) == 0);
            }
        }
      }
    }
}

TEST_CASE("random_erasing gives the same bits on either side of batch") {
  for (const DType dtype : {DType::u8, DType::f32, DType::f16})
    for (const Shape& shape : {Shape{12, 17, 3}, Shape{1, 30, 41}, Shape{6, 5, 1}}) {
      const Pipeline source = from(Images{.dtype = dtype, .shape = shape, .bad = 5}) | shuffle({.seed = 2}) |
                              on_error({.policy = OnError::mask});
      const Stage stage = random_erasing("image", {.probability = 0.7, .value = {3}});
      check_both_sides(source | stage | batch(6), source | batch(6) | stage);
      check_both_sides(source | stage | stage | batch(6, {.tail = Tail::pad}),
                       source | stage | batch(6, {.tail = Tail::pad}) | stage);
    }
  // Among image stages, in a fold before it and after it.
  const Pipeline source = from(Images{});
  const auto stages = [](const Pipeline& p) {
    return p | random_flip("image") | random_erasing("image", {.value = {1, 2, 3}}) |
           normalize("image", {.mean = {0.5}, .std = {0.25}, .dtype = DType::f16}) | random_erasing("image");
  };
  check_both_sides(stages(source) | batch(5), stages(source | batch(5)));
}

TEST_CASE("random_erasing leaves an image into which no drawn size fits") {
  const RandomErasing erasing({.probability = 1, .area = {1, 1}, .aspect = {4, 4}});
  CHECK(RandomErasing::box(drawn(erasing, 0), {10, 10}).height == 0);
  CHECK(RandomErasing::box(drawn(erasing, 0), {20, 5}).height == 20);
  const RandomErasing wide({.probability = 1, .area = {1, 1}, .aspect = {0.25, 0.25}});
  CHECK(RandomErasing::box(drawn(wide, 0), {10, 10}).height == 0);
  CHECK(RandomErasing::box(drawn(wide, 0), {5, 20}).width == 20);
  CHECK(RandomErasing::box(Params{}, {10, 10}).height == 0);
}

TEST_CASE("random_erasing refuses options and images, and says what to do") {
  CHECK(cause([] { RandomErasing({.probability = 2}); }).find("probability 2") != std::string::npos);
  CHECK(cause([] { RandomErasing({.area = {0, 1}}); }).find("area 0..1 must rise") != std::string::npos);
  CHECK(cause([] { RandomErasing({.aspect = {2, 1}}); }).find("aspect 2..1 must rise") != std::string::npos);
  CHECK(cause([] { RandomErasing({.value = {}}); }).find("`.value` is one number") != std::string::npos);
  const auto on = [](const Images& images, const RandomErasingOptions& options) {
    return cause([&] { (void)(from(images) | random_erasing("image", options)); });
  };
  CHECK(on({.dtype = DType::i64}, {}).find("u8, f32, f16 or bf16") != std::string::npos);
  CHECK(on({.shape = {3, 9, 3}}, {}).find("say it with `.layout`") != std::string::npos);
  CHECK(on({.shape = {9, 9}}, {}).find("[H, W, C] or [C, H, W]") != std::string::npos);
  CHECK(on({}, {.value = {1, 2}}).find("as many channels as `.value` has numbers, 2") != std::string::npos);
  CHECK(on({}, {.value = {0.5}}).find("whole numbers from 0 to 255") != std::string::npos);
  CHECK(on({.shape = {dynamic, dynamic, 3}}, {}).find("say it with `.layout`") != std::string::npos);
  CHECK((from(Images{.shape = {dynamic, dynamic, 3}}) | random_erasing("image", {.layout = Layout::hwc}))
            .schema()
            .size() == 1);
}

}  // namespace PENSTOCK_TEST_FILE
