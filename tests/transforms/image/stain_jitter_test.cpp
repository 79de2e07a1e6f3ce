// SPDX-License-Identifier: Apache-2.0
// stain_jitter against its formula in float64, step by step, and its logarithm and exponential against long double.
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/image/targets.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

using Params = StainJitter::Params;
using Three = std::array<double, 3>;

Image stained(Image image, const Params& params) {
  StainJitter::apply(params, View<std::uint8_t, 3>(image.pixels.data(),
                                                   {image.shape.height, image.shape.width, image.shape.channels}));
  return image;
}

// Each pixel there and back, with the equations solved by Gauss's elimination: no matrix is inverted.
Three concentrations(const Three& density) {
  // Columns: the colours of the stains.
  double m[3][4] = {{0.65, 0.07, 0.27, density[0]}, {0.70, 0.99, 0.57, density[1]}, {0.29, 0.11, 0.78, density[2]}};
  for (int p = 0; p < 3; ++p)
    for (int row = 0; row < 3; ++row) {
      if (row == p) continue;
      const double factor = m[row][p] / m[p][p];
      for (int column = 0; column < 4; ++column) m[row][column] -= factor * m[p][column];
    }
  return {m[0][3] / m[0][0], m[1][3] / m[1][1], m[2][3] / m[2][2]};
}

Three reference(const std::uint8_t* pixel, const Three& alpha, const Three& beta) {
  Three density{};
  for (std::size_t c = 0; c < 3; ++c) density[c] = -std::log((pixel[c] + 1.0) / 256);
  Three stains = concentrations(density);
  for (std::size_t s = 0; s < 3; ++s) stains[s] = alpha[s] * stains[s] + beta[s];
  const double colors[3][3] = {{0.65, 0.70, 0.29}, {0.07, 0.99, 0.11}, {0.27, 0.57, 0.78}};
  Three out{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double back = stains[0] * colors[0][c] + stains[1] * colors[1][c] + stains[2] * colors[2][c];
    out[c] = std::min(255.0, std::max(0.0, 256 * std::exp(-back) - 1));
  }
  return out;
}

Rng stain_rng(std::uint64_t position) { return Rng(7, 99, Place{0, position, 0, 0}); }

Image every_gray() {
  Image image({16, 16, 3});
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<std::uint8_t>(i / 3);
  return image;
}

}  // namespace

TEST_CASE("optical densities are the logarithm to the last bit") {
  for (int level = 0; level < 256; ++level) {
    CAPTURE(level);
    const auto exact = static_cast<float>(-std::log((static_cast<long double>(level) + 1) / 256));
    CHECK(StainJitter::densities().of[level] == exact);
  }
  CHECK_FALSE(std::signbit(StainJitter::densities().of[255]));
}

TEST_CASE("the exponential of stain_jitter is within its bound of long double") {
  long double worst = 0;
  const auto try_one = [&](float x) {
    const long double right = std::exp(static_cast<long double>(x));
    worst = std::max(worst, std::abs((static_cast<long double>(exact::exp(x)) - right) / right));
  };
  for (int i = 0; i <= 4'000'000; ++i) try_one(static_cast<float>(i) * -2e-5f);
  for (float x = -0.7f; x < 0; x = std::nextafter(x, 0.0f) + 1e-7f) try_one(x);
  CAPTURE(static_cast<double>(worst));
  CHECK(worst < 3e-7L);
  CHECK(exact::exp(0) == 1);
  CHECK(exact::exp(-0.0f) == 1);
}

TEST_CASE("stain_jitter is its formula in float64 and rounds once") {
  double worst = 0;
  int at_the_ends = 0;
  on_every_target([&] {
    for (std::uint64_t test = 0; test < 60; ++test) {
      const ImageShape shapes[] = {{1, 1, 3}, {5, 7, 3}, {16, 16, 3}, {31, 33, 3}, {40, 53, 3}};
      const Image image = test == 0       ? every_gray()
                          : test % 2 == 0 ? photo(shapes[test % 5], test)
                                          : static_noise(shapes[test % 5], test);
      Rng rng = stain_rng(test);
      Three alpha{}, beta{};
      const double range = test % 3 == 0 ? 1 : 0.2;
      for (std::size_t s = 0; s < 3; ++s) alpha[s] = rng.uniform(1 - range, 1 + range);
      for (std::size_t s = 0; s < 3; ++s) beta[s] = rng.uniform(-range, range) * (test % 5 == 0 ? 10 : 1);
      const Image ours = stained(image, StainJitter::params(alpha, beta));
      for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
        const Three exact = reference(&image.pixels[i], alpha, beta);
        for (std::size_t c = 0; c < 3; ++c) {
          worst = std::max(worst, std::abs(exact[c] - ours.pixels[i + c]));
          at_the_ends += exact[c] == 0 || exact[c] == 255;
        }
      }
    }
  });
  // Half a level of rounding, and what binary32 adds.
  CHECK(worst <= 0.501);
  CHECK(worst > 0.49);
  CHECK(at_the_ends > 1000);
}

TEST_CASE("kernels' stain changes have the bits of stain_jitter on every target") {
  on_every_target([&] {
    for (std::uint64_t test = 0; test < 60; ++test) {
      const ImageShape shapes[] = {{1, 1, 3}, {5, 7, 3}, {31, 33, 3}, {40, 53, 3}};
      const Image image = static_noise(shapes[test % 4], test);
      Rng rng = stain_rng(test);
      const Params params = StainJitter({.alpha = test % 3 == 0 ? 1 : 0.2, .beta = test % 5 == 0 ? 3 : 0.2}).draw(rng);
      Image by_pixels = image;
      for (std::size_t at = 0; at < image.pixels.size(); at += 3)
        change_stains(&image.pixels[at], &by_pixels.pixels[at], params, StainJitter::densities());
      REQUIRE(stained(image, params) == by_pixels);
    }
  });
}

TEST_CASE("levels of densities have the same bits pixel by pixel and in rows over their whole range") {
  // The offset alone tells what comes out of white.
  for (int i = -200; i < 7000; ++i) {
    Params params;
    params.offset[0] = static_cast<float>(i) / 1000;
    params.offset[1] = static_cast<float>(i) / 1000 + 3e-4f;
    params.offset[2] = static_cast<float>(i) / 1000 + 7e-4f;
    Image white({1, 1, 3});
    white.pixels.assign(3, 255);
    const Image ours = stained(white, params);
    for (std::size_t c = 0; c < 3; ++c) REQUIRE(ours.pixels[c] == level_of_density(params.offset[c]));
  }
}

TEST_CASE("stain_jitter changes nothing where alpha is 1 and beta is 0") {
  const Params nothing = StainJitter::params({1, 1, 1}, {0, 0, 0});
  CHECK(stained(every_gray(), nothing) == every_gray());
  const Image noise = static_noise({64, 64, 3}, 2);
  CHECK(stained(noise, nothing) == noise);
  Rng rng = stain_rng(1);
  CHECK(stained(noise, StainJitter({}).draw(rng)) == noise);
  CHECK(stained(noise, Params{}) == noise);
}

TEST_CASE("stain_jitter cuts what is lighter than white and darker than black") {
  const Image noise = static_noise({9, 9, 3}, 3);
  const auto all = [](const Image& image, int level) {
    return std::all_of(image.pixels.begin(), image.pixels.end(), [&](std::uint8_t v) { return v == level; });
  };
  CHECK(all(stained(noise, StainJitter::params({1, 1, 1}, {10, 10, 10})), 0));
  CHECK(all(stained(noise, StainJitter::params({1, 1, 1}, {-10, -10, -10})), 255));
  CHECK(all(stained(noise, StainJitter::params({0, 0, 0}, {0, 0, 0})), 255));
  // What a masked row has.
  CHECK(all(stained(noise, std::bit_cast<Params>(std::array<std::byte, sizeof(Params)>{})), 0));
}

TEST_CASE("the stain that is drawn away is gone") {
  // Haematoxylin of density 1 and eosin of 0.5; then no haematoxylin.
  const double colors[3][3] = {{0.65, 0.70, 0.29}, {0.07, 0.99, 0.11}, {0.27, 0.57, 0.78}};
  Image both({1, 1, 3}), eosin({1, 1, 3});
  for (std::size_t c = 0; c < 3; ++c) {
    both.pixels[c] = static_cast<std::uint8_t>(std::lround(256 * std::exp(-colors[0][c] - 0.5 * colors[1][c]) - 1));
    eosin.pixels[c] = static_cast<std::uint8_t>(std::lround(256 * std::exp(-0.5 * colors[1][c]) - 1));
  }
  const Image left = stained(both, StainJitter::params({0, 1, 1}, {0, 0, 0}));
  for (std::size_t c = 0; c < 3; ++c) CHECK(std::abs(left.pixels[c] - eosin.pixels[c]) <= 2);
}

TEST_CASE("draws of stain_jitter are uniform and each its own") {
  const StainJitter stage({.alpha = 0.3, .beta = 0.1});
  const int draws = 4000;
  std::set<std::array<std::uint32_t, 12>> all;
  double sum = 0, least = 9, most = -9;
  for (std::uint64_t position = 0; position < draws; ++position) {
    Rng rng = stain_rng(position);
    const Params params = stage.draw(rng);
    std::array<std::uint32_t, 12> bits{};
    std::memcpy(bits.data(), &params, sizeof bits);
    all.insert(bits);
    // alpha_1 + alpha_2 + alpha_3: the trace is the same in any base.
    const double trace = static_cast<double>(params.matrix[0][0]) + static_cast<double>(params.matrix[1][1]) +
                         static_cast<double>(params.matrix[2][2]);
    sum += trace;
    least = std::min(least, trace), most = std::max(most, trace);
    Rng again = stain_rng(position);
    const Params other = StainJitter({.alpha = 0, .beta = 0.1}).draw(again);
    for (int c = 0; c < 3; ++c) REQUIRE(other.offset[c] == params.offset[c]);
  }
  CHECK(all.size() == draws);
  CHECK(sum / draws == Approx(3).margin(0.02));
  CHECK(least >= 2.1);
  CHECK(least < 2.3);
  CHECK(most <= 3.9);
  CHECK(most > 3.7);
}

TEST_CASE("what stain_jitter can't do") {
  CHECK(code_of([] { StainJitter({.alpha = -0.1}); }) == Errc::invalid_argument);
  CHECK(code_of([] { StainJitter({.alpha = 1.1}); }) == Errc::invalid_argument);
  CHECK(code_of([] { StainJitter({.beta = std::nan("")}); }) == Errc::invalid_argument);
  CHECK(code_of([] { StainJitter({.beta = 10.5}); }) == Errc::invalid_argument);
  CHECK(code_of([] { stained(static_noise({4, 4, 1}), Params{}); }) == Errc::unsupported);
  Memory memory;
  memory.add<std::uint8_t>("image", {4, 4, 1}, std::vector<std::uint8_t>(16));
  try {
    (void)(from(memory) | stain_jitter("image", {.alpha = 0.1}));
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::schema_mismatch);
    CHECK(error.stage() == "stain_jitter(image)");
  }
}

TEST_CASE("stain_jitter in a pipeline draws by position and is in the fingerprint") {
  std::vector<std::uint8_t> all;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const Image image = photo({20, 24, 3}, i);
    all.insert(all.end(), image.pixels.begin(), image.pixels.end());
  }
  Memory memory;
  memory.add<std::uint8_t>("image", {20, 24, 3}, all);
  const Pipeline cropped = from(memory) | seed(3) | random_crop("image", {16, 16}),
                 pipeline = cropped | stain_jitter("image", {.alpha = 0.2, .beta = 0.1});
  CHECK(pipeline.plan().find("stain_jitter(image): in place -> {image: u8[16, 16, 3]}") != std::string::npos);
  for (const StainJitterOptions& other :
       {StainJitterOptions{.alpha = 0.2, .beta = 0.2}, StainJitterOptions{.alpha = 0.1, .beta = 0.1}})
    CHECK((cropped | stain_jitter("image", other)).fingerprint() != pipeline.fingerprint());
  CHECK((cropped | stain_jitter("image", {.alpha = 0.2, .beta = 0.1})).fingerprint() == pipeline.fingerprint());
  for (const unsigned threads : {1u, 3u}) {
    Loader loader(pipeline | batch(4), {.threads = threads});
    std::uint64_t position = 0;
    int changed = 0;
    for (Batch& batch : loader.epoch())
      for (std::uint64_t row = 0; row < 4; ++row, ++position) {
        const OwnedSample sample = pipeline.at(position), before = cropped.at(position);
        const std::size_t bytes = sample["image"].bytes();
        REQUIRE(std::memcmp(batch["image"].data + row * bytes, sample["image"].data, bytes) == 0);
        changed += std::memcmp(sample["image"].data, before["image"].data, bytes) != 0;
      }
    CHECK(position == 12);
    CHECK(changed == 12);
  }
}
