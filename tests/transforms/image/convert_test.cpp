// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <penstock/extend/bfloat16.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/image/reference.hpp"
#include "transforms/image/targets.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double magnitude = exponent == 0    ? std::ldexp(mantissa, -24)
                           : exponent == 31 ? (mantissa != 0 ? std::nan("") : INFINITY)
                                            : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

// The nearest half by search; of two equally near ones, the one with an even last bit.
std::uint16_t nearest_half(float value) {
  const double exact = std::abs(static_cast<double>(value));
  std::uint16_t best = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (std::uint32_t bits = 0; bits <= 0x7c00; ++bits) {
    // Infinity counts as the value that would follow the largest half.
    const double candidate = bits == 0x7c00 ? 65536 : half_value(static_cast<std::uint16_t>(bits));
    const double d = std::abs(candidate - exact);
    if (d < distance || (d == distance && bits % 2 == 0)) best = static_cast<std::uint16_t>(bits), distance = d;
  }
  return static_cast<std::uint16_t>(best | (std::signbit(value) ? 0x8000 : 0));
}

float element(std::uint8_t value, float scale, float bias) {
  const float product = static_cast<float>(value) * scale;
  return product + bias;
}

}  // namespace

TEST_CASE("conversions give value * scale + bias, rounded after each step, on every target") {
  const std::array<float, 4> scale{0.0171247538f, -0.3f, 3.25f, 1.0f / 3}, bias{-2.11790393f, 0.1f, -1e-3f, 7.7f};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed);
    const ImageShape shape{numbers.from(1, 40), numbers.from(1, 140), numbers.from(1, 4)};
    const Image source = static_noise(shape, seed);
    ImageOp op(shape);
    if (numbers.coin()) op.resize({numbers.from(1, 60), numbers.from(1, 60)});
    if (numbers.coin()) op.flip_horizontal();
    if (numbers.coin()) op.rot90(1);
    const Image before = reference_run(source, op);
    const DType dtype = numbers.coin() ? DType::f32 : numbers.coin() ? DType::f16 : DType::u8;
    const Layout layout = numbers.coin() ? Layout::chw : Layout::hwc;
    const std::array<float, 4> one{1, 1, 1, 1}, none{0, 0, 0, 0};
    op.convert(dtype, layout, dtype == DType::u8 ? one : scale, dtype == DType::u8 ? none : bias);
    on_every_target([&] {
      const std::vector<std::byte> bytes = execute(source, op);
      const ImageShape s = op.shape();
      bool same = true;
      for (int y = 0; y < s.height; ++y) {
        for (int x = 0; x < s.width; ++x) {
          for (int c = 0; c < s.channels; ++c) {
            const int index =
                layout == Layout::chw ? (c * s.height + y) * s.width + x : (y * s.width + x) * s.channels + c;
            const auto at = static_cast<std::size_t>(index);
            const auto channel = static_cast<std::size_t>(c);
            const std::uint8_t value = before.at(y, x, c);
            const float expected = element(value, scale[channel], bias[channel]);
            if (dtype == DType::u8) {
              same = same && std::to_integer<std::uint8_t>(bytes[at]) == value;
            } else if (dtype == DType::f32) {
              std::uint32_t bits = 0;
              std::memcpy(&bits, bytes.data() + 4 * at, 4);
              same = same && bits == std::bit_cast<std::uint32_t>(expected);
            } else {
              std::uint16_t bits = 0;
              std::memcpy(&bits, bytes.data() + 2 * at, 2);
              same = same &&
                     std::abs(half_value(bits) - static_cast<double>(expected)) <= std::abs(expected) / 2048 + 1e-7;
            }
          }
        }
      }
      REQUIRE(same);
    });
  }
}

TEST_CASE("bf16 is the nearest bfloat16 in every layout") {
  Image ramp({3, 86, 3});
  for (std::size_t i = 0; i < ramp.pixels.size(); ++i) ramp.pixels[i] = static_cast<std::uint8_t>(i * 7);
  for (const Layout layout : {Layout::hwc, Layout::chw}) {
    ImageOp op(ramp.shape), exact(ramp.shape);
    const std::array<float, 4> scale{0.0171f, -3.01f, 257.3f, 1}, bias{-2.1f, 0.1f, 1e-3f, 0};
    op.convert(DType::bf16, layout, scale, bias);
    exact.convert(DType::f32, layout, scale, bias);
    const std::vector<std::byte> bytes = execute(ramp, op), floats = execute(ramp, exact);
    REQUIRE(bytes.size() * 2 == floats.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
      std::uint16_t bits = 0;
      float value = 0;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      std::memcpy(&value, floats.data() + 4 * i, 4);
      wrong += bits != to_bfloat16(value);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("f16 is the nearest half, ties to even") {
  Image ramp({1, 256, 1});
  for (int x = 0; x < 256; ++x) ramp.at(0, x, 0) = static_cast<std::uint8_t>(x);
  // Normal, subnormal, below the least, at the greatest and above it, ties, and negative zero.
  const float scales[] = {1.0f,     1 / 255.0f, 257.0f,   256.98f,      300.0f,   0x1p-24f,
                          0x1p-25f, 0x1p-33f,   8.03125f, 1.001953125f, -0x1p-25f};
  const float biases[] = {0.0f, 2049.0f, -1.0f, 0x1p-15f};
  for (const float scale : scales) {
    for (const float bias : biases) {
      ImageOp op(ramp.shape);
      op.convert(DType::f16, Layout::hwc, {scale, 1, 1, 1}, {bias, 0, 0, 0});
      const std::vector<std::byte> bytes = execute(ramp, op);
      for (std::size_t v = 0; v < 256; v += 3) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, bytes.data() + 2 * v, 2);
        const float value = element(static_cast<std::uint8_t>(v), scale, bias);
        CAPTURE(v, scale, bias);
        REQUIRE(bits == nearest_half(value));
      }
    }
  }
}
