// SPDX-License-Identifier: Apache-2.0
// The arithmetic of kernels, pixel by pixel on the CPU, against color_jitter and against formulas in float64.
#include <bit>
#include <cmath>

#include <penstock/penstock.hpp>
#include <penstock/transforms/image.hpp>
#include <penstock/transforms/image/color_pixel.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/image/targets.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Changes an image as a kernel does: the sum of what stands before contrast, then everything.
Image by_pixels(Image image, const ColorChange& change) {
  const int channels = image.shape.channels, contrast = color::place_of_contrast(change);
  const auto step = static_cast<std::size_t>(channels);
  const auto load = [&](std::size_t at) {
    ColorPixel pixel{};
    for (std::size_t c = 0; c < step; ++c) pixel.of[c] = image.pixels[at + c];
    return pixel;
  };
  std::uint64_t sum = 0;
  if (contrast != 4)
    for (std::size_t at = 0; at < image.pixels.size(); at += step)
      sum += color::gray(color::changed(load(at), channels, change, 0, contrast, 0), channels);
  const float mean = contrast == 4 ? 0 : color::mean_gray(sum, image.pixels.size() / step);
  for (std::size_t at = 0; at < image.pixels.size(); at += step) {
    const ColorPixel pixel = color::changed(load(at), channels, change, 0, 4, mean);
    for (std::size_t c = 0; c < step; ++c) image.pixels[at + c] = pixel.of[c];
  }
  return image;
}

Image by_stage(Image image, const ColorJitter::Params& params) {
  ColorJitter::apply(params, View<std::uint8_t, 3>(image.pixels.data(),
                                                   {image.shape.height, image.shape.width, image.shape.channels}));
  return image;
}

Rng color_rng(std::uint64_t position) { return Rng(11, 5, Place{0, position, 0, 0}); }

}  // namespace

TEST_CASE("kernels' colour changes have the bits of color_jitter on every target") {
  on_every_target([&] {
    for (std::uint64_t test = 0; test < 300; ++test) {
      const ImageShape shapes[] = {{1, 1, 3}, {16, 17, 3}, {37, 41, 1}, {33, 64, 3}};
      const ImageShape shape = shapes[test % 4];
      const Image image = test % 3 == 0 ? photo(shape, test) : static_noise(shape, test);
      const double wide = test % 5 == 0 ? 3 : 0.6;
      Rng rng = color_rng(test);
      const ColorJitterOptions options{.brightness = test % 7 == 1 ? 0 : wide,
                                       .contrast = test % 7 == 2 ? 0 : wide,
                                       .saturation = test % 7 == 3 ? 0 : wide,
                                       .hue = test % 7 == 4 ? 0 : 0.5};
      const ColorJitter::Params params = ColorJitter(options).draw(rng);
      REQUIRE(by_pixels(image, std::bit_cast<ColorChange>(params)) == by_stage(image, params));
    }
  });
}

TEST_CASE("every colour turns to the same hue pixel by pixel and in rows") {
  // All maxima, minima and orders, a step of 5 apart.
  Image image({52 * 52, 52, 3});
  std::size_t at = 0;
  for (int r = 0; r < 256; r += 5)
    for (int g = 0; g < 256; g += 5)
      for (int b = 0; b < 256; b += 5)
        for (const int v : {r, g, b}) image.pixels[at++] = static_cast<std::uint8_t>(v);
  for (const float turns : {-0.5f, -1.0f / 3, -0.1f, 1e-4f, 1.0f / 6, 0.25f, 0.5f}) {
    ColorJitter::Params params;
    params.hue = turns;
    CHECK(by_pixels(image, std::bit_cast<ColorChange>(params)) == by_stage(image, params));
  }
}

TEST_CASE("a pixel's colour changes are their formulas in float64 and round once") {
  Numbers numbers(3);
  double worst = 0;
  for (int test = 0; test < 200'000; ++test) {
    ColorPixel pixel{};
    for (std::uint8_t& v : pixel.of) v = static_cast<std::uint8_t>(numbers.below(256));
    const double r = pixel.of[0], g = pixel.of[1], b = pixel.of[2];
    const double luma = std::floor((19595 * r + 38470 * g + 7471 * b + 32768) / 65536);
    CHECK(static_cast<double>(color::gray(pixel, 3)) == luma);
    ColorChange change;
    const auto operation = static_cast<std::uint8_t>(numbers.below(4));
    const auto amount = static_cast<float>(numbers.below(20'000)) / 10'000;
    const float mean = static_cast<float>(numbers.below(25'500)) / 100;
    (operation == ColorChange::hue ? change.turns : change.factors[operation]) =
        operation == ColorChange::hue ? amount / 2 - 0.5f : amount;
    const ColorPixel ours = color::changed(pixel, 3, change, 0, 4, mean);
    const double most = std::max({r, g, b}), range = most - std::min({r, g, b});
    double sixths = range == 0  ? 0
                    : most == r ? (g - b) / range
                    : most == g ? 2 + (b - r) / range
                                : 4 + (r - g) / range;
    sixths += 6 * static_cast<double>(change.turns);
    for (std::size_t c = 0; c < 3; ++c) {
      double exact = 0;
      if (operation == ColorChange::hue) {
        const double k = std::fmod(sixths + std::array{5.0, 3.0, 1.0}[c] + 12, 6.0);
        exact = most - range * std::max(0.0, std::min({k, 4 - k, 1.0}));
      } else {
        const double toward = operation == ColorChange::brightness ? 0
                              : operation == ColorChange::contrast ? static_cast<double>(mean)
                                                                   : luma;
        exact = std::min(255.0, std::max(0.0, toward + static_cast<double>(amount) * (pixel.of[c] - toward)));
      }
      worst = std::max(worst, std::abs(exact - ours.of[c]));
    }
  }
  CHECK(worst <= 0.501);
  CHECK(worst > 0.49);
}

TEST_CASE("a colour change of zeros makes black") {
  const auto zeros = std::bit_cast<ColorChange>(std::array<std::byte, sizeof(ColorChange)>{});
  for (const int channels : {1, 3}) {
    const Image image = static_noise({5, 6, channels}, 2);
    const Image black = by_pixels(image, zeros);
    CHECK(black == Image(image.shape));
    CHECK(by_stage(image, std::bit_cast<ColorJitter::Params>(zeros)) == black);
  }
}
