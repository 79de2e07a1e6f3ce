// SPDX-License-Identifier: Apache-2.0
// Fits of stains against their definitions in float64, and against stains that are known.
#include <penstock/transforms/image/stain_fit.hpp>

#include <cmath>
#include <vector>

#include <penstock/transforms/image/normalize_stain.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/image/stain_reference.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr auto macenko = StainMethod::macenko, reinhard = StainMethod::reinhard;

void check_macenko(const Image& image) {
  const StainFit fit = fit_of(image, macenko);
  const StainsByDefinition exact = macenko_by_definition(image.pixels);
  CHECK(fit.method == macenko);
  for (std::size_t s = 0; s < 2; ++s) {
    CHECK(degrees_between(wide(fit.stains[s]), exact.stains[s]) < 0.01);
    CHECK(dot_of(wide(fit.stains[s]), wide(fit.stains[s])) == Approx(1).epsilon(1e-6));
    // What the stains move by 0.01 degrees, and a bin.
    CHECK(static_cast<double>(fit.max_concentrations[s]) == Approx(exact.concentrations[s]).epsilon(2e-3));
  }
}

Image of_pixels(const std::vector<std::array<std::uint8_t, 3>>& pixels) {
  Image image({1, static_cast<std::int32_t>(pixels.size()), 3});
  for (std::size_t i = 0; i < pixels.size(); ++i)
    std::copy_n(pixels[i].begin(), 3, image.pixels.begin() + 3 * static_cast<std::ptrdiff_t>(i));
  return image;
}

}  // namespace

TEST_CASE("a fit of Macenko's is its definition in float64") {
  for (std::uint64_t test = 0; test < 24; ++test) {
    CAPTURE(test);
    const ImageShape shapes[] = {{64, 64, 3}, {37, 91, 3}, {128, 96, 3}};
    StainedTissue tissue{.seed = test};
    tissue.strength = {0.6 + 0.1 * static_cast<double>(test % 7), 0.5 + 0.1 * static_cast<double>(test % 5)};
    if (test % 4 == 1) tissue.stains = {{{0.5626, 0.7201, 0.4062}, {0.2159, 0.8012, 0.5581}}};
    check_macenko(test % 4 == 3   ? static_noise(shapes[test % 3], test)
                  : test % 4 == 2 ? photo(shapes[test % 3], test)
                                  : tissue.image(shapes[test % 3]));
  }
}

TEST_CASE("stains and concentrations that an image was made of are found") {
  for (const auto& stains : {std::array<Three, 2>{{{0.65, 0.70, 0.29}, {0.25, 0.85, 0.46}}},
                             std::array<Three, 2>{{{0.5626, 0.7201, 0.4062}, {0.2159, 0.8012, 0.5581}}},
                             std::array<Three, 2>{{{0.75, 0.60, 0.28}, {0.30, 0.90, 0.30}}}}) {
    const StainedTissue tissue{.stains = stains, .strength = {1, 1}, .seed = 3};
    const StainFit fit = fit_of(tissue.image({200, 200, 3}), macenko);
    // Values of 8 bits move a pixel's colour by a degree or so.
    for (std::size_t s = 0; s < 2; ++s) CHECK(degrees_between(wide(fit.stains[s]), stains[s]) < 1.5);
    CHECK(static_cast<double>(fit.max_concentrations[0]) == Approx(1.6).epsilon(0.04));
    CHECK(static_cast<double>(fit.max_concentrations[1]) == Approx(1).epsilon(0.04));
    // Haematoxylin stands first, whichever is given first.
    const StainedTissue turned{.stains = {stains[1], stains[0]}, .strength = {1, 1}, .seed = 3};
    const StainFit other = fit_of(turned.image({200, 200, 3}), macenko);
    CHECK(degrees_between(wide(other.stains[0]), stains[0]) < 1.5);
    CHECK(degrees_between(wide(other.stains[1]), stains[1]) < 1.5);
  }
}

TEST_CASE("pixels that are hardly stained don't count for Macenko's fit") {
  const StainedTissue tissue{.seed = 5};
  Image image = tissue.image({100, 100, 3});
  const StainFit fit = fit_of(image, macenko);
  // Glass, and light that only one or two colours of are taken: (219 + 1) / 256 is a density of 0.1516, 220 of 0.147.
  std::vector<std::uint8_t> more = image.pixels;
  for (int i = 0; i < 5000; ++i)
    for (const int value : {240 + i % 16, 241, 239}) more.push_back(static_cast<std::uint8_t>(value));
  for (int i = 0; i < 500; ++i)
    for (const int value : {220, 20, 30}) more.push_back(static_cast<std::uint8_t>(value));
  Image with({1, static_cast<std::int32_t>(more.size() / 3), 3});
  with.pixels = more;
  CHECK(fit_of(with, macenko) == fit);
  for (int i = 0; i < 500; ++i)
    for (const int value : {219, 20, 30}) with.pixels.push_back(static_cast<std::uint8_t>(value));
  with.shape.width += 500;
  CHECK_FALSE(fit_of(with, macenko) == fit);
}

TEST_CASE("a fit of Reinhard's is its definition in float64") {
  for (std::uint64_t test = 0; test < 12; ++test) {
    CAPTURE(test);
    const Image image = test % 3 == 0   ? static_noise({50, 77, 3}, test)
                        : test % 3 == 1 ? photo({123, 64, 3}, test)
                                        : StainedTissue{.seed = test}.image({70, 70, 3});
    const StainFit fit = fit_of(image, reinhard);
    const LabByDefinition exact = reinhard_by_definition(image.pixels);
    CHECK(fit.method == reinhard);
    for (std::size_t c = 0; c < 3; ++c) {
      CHECK(static_cast<double>(fit.mean[c]) == Approx(exact.mean[c]).epsilon(1e-7).margin(1e-9));
      CHECK(static_cast<double>(fit.std[c]) == Approx(exact.deviation[c]).epsilon(1e-7));
    }
  }
}

TEST_CASE("a fit doesn't depend on where pixels stand, nor on the image's shape") {
  const Image image = StainedTissue{.seed = 8}.image({60, 80, 3});
  Image long_one({1, 4800, 3}), turned({80, 60, 3});
  long_one.pixels = image.pixels;
  for (std::size_t i = 0; i < 4800; ++i)
    std::copy_n(image.pixels.begin() + static_cast<std::ptrdiff_t>(3 * i), 3,
                turned.pixels.begin() + static_cast<std::ptrdiff_t>(3 * (i * 7 % 4800)));
  for (const StainMethod method : {macenko, reinhard}) {
    const StainFit fit = fit_of(image, method);
    CHECK(fit_of(long_one, method) == fit);
    const std::vector<float> a = fit.values(), b = fit_of(turned, method).values();
    for (std::size_t i = 0; i < a.size(); ++i)
      CHECK(static_cast<double>(a[i]) == Approx(static_cast<double>(b[i])).epsilon(1e-5));
  }
}

TEST_CASE("images whose stains can't be told are errors that say why") {
  const auto error = [](const Image& image, StainMethod method) {
    const Error thrown = error_of([&] { (void)fit_of(image, method); });
    CHECK(thrown.code() == Errc::unsupported);
    CHECK(thrown.sample_scoped());
    return thrown;
  };
  const auto filled = [](std::array<std::uint8_t, 3> rgb, std::int32_t width) {
    return of_pixels(std::vector<std::array<std::uint8_t, 3>>(static_cast<std::size_t>(width), rgb));
  };
  CHECK(mentions(error(filled({250, 250, 250}, 5000), macenko), "0 pixels that show stain, and 100 are needed"));
  CHECK(mentions(error(filled({100, 50, 90}, 99), macenko), "99 pixels that show stain"));
  CHECK(mentions(error(filled({100, 50, 90}, 5000), macenko), "of one stain, or of none"));
  CHECK(mentions(error(filled({0, 0, 0}, 5000), macenko), "of one stain, or of none"));
  CHECK(mentions(error(Image({0, 0, 3}), macenko), "0 pixels"));
  CHECK(mentions(error(Image({0, 0, 3}), reinhard), "0 pixels"));
  CHECK(mentions(error(filled({100, 50, 90}, 99), reinhard), "99 pixels"));
  CHECK(mentions(error(filled({100, 50, 90}, 5000), reinhard), "about the same colour"));
  CHECK(mentions(error(Image({20, 20, 1}), macenko), "3 channels"));
  CHECK(mentions(error(Image({20, 20, 4}), reinhard), "3 channels"));
  // Greys, and shades of one colour.
  std::vector<std::array<std::uint8_t, 3>> greys, shades;
  for (int i = 0; i < 200; ++i) {
    greys.push_back({static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i)});
    // Powers of two: exact densities.
    const auto power = static_cast<std::uint8_t>((1 << (i % 7 + 1)) - 1);
    shades.push_back({power, power, static_cast<std::uint8_t>(127)});
    shades.back()[2] = power;
  }
  CHECK(mentions(error(of_pixels(greys), macenko), "of one stain"));
  CHECK(mentions(error(of_pixels(shades), macenko), "of one stain"));
  // As many as are needed.
  std::vector<std::array<std::uint8_t, 3>> two(98, {100, 50, 90});
  two.insert(two.end(), 2, {50, 60, 120});
  CHECK_NOTHROW(fit_of(of_pixels(two), macenko));
  CHECK_NOTHROW(fit_of(of_pixels(two), reinhard));
}

TEST_CASE("a fit is the same as a field of numbers") {
  for (const StainMethod method : {macenko, reinhard}) {
    const StainFit fit = fit_of(StainedTissue{.seed = 1}.image({40, 40, 3}), method);
    const std::vector<float> values = fit.values();
    CHECK(values.size() == (method == macenko ? 8 : 6));
    CHECK(StainFit::of(values) == fit);
    CHECK(StainFit::of(StainFit::reference(method).values()) == StainFit::reference(method));
  }
  const StainFit numbered = StainFit::of(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(numbered.stains == std::array<std::array<float, 3>, 2>{{{1, 2, 3}, {4, 5, 6}}});
  CHECK(numbered.max_concentrations == std::array<float, 2>{7, 8});
  const StainFit other = StainFit::of(std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(other.method == reinhard);
  CHECK(other.mean == std::array<float, 3>{1, 2, 3});
  CHECK(other.std == std::array<float, 3>{4, 5, 6});
  for (const std::size_t count : {0u, 5u, 7u, 9u})
    CHECK(code_of([&] { (void)StainFit::of(std::vector<float>(count)); }) == Errc::unsupported);
}

}  // namespace PENSTOCK_TEST_FILE
