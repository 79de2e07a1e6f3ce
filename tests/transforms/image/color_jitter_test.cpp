// SPDX-License-Identifier: Apache-2.0
// color_jitter against the formulas in double precision, against Pillow, and against itself on every instruction set.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"
#include "transforms/image/targets.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Params = ColorJitter::Params;

Image jittered(Image image, const Params& params) {
  ColorJitter::apply(params, View<std::uint8_t, 3>(image.pixels.data(),
                                                   {image.shape.height, image.shape.width, image.shape.channels}));
  return image;
}

double gray_of(const Image& image, int y, int x) {
  if (image.shape.channels == 1) return image.at(y, x, 0);
  return std::floor((19595. * image.at(y, x, 0) + 38470. * image.at(y, x, 1) + 7471. * image.at(y, x, 2) + 32768) /
                    65536);
}

// Textbook HSV: hue as an angle, then sectors.
std::array<double, 3> turned(std::array<double, 3> rgb, double turns) {
  const double most = std::max({rgb[0], rgb[1], rgb[2]}), range = most - std::min({rgb[0], rgb[1], rgb[2]});
  if (range == 0) return rgb;
  double hue = most == rgb[0]   ? (rgb[1] - rgb[2]) / range / 6
               : most == rgb[1] ? (rgb[2] - rgb[0]) / range / 6 + 1. / 3
                                : (rgb[0] - rgb[1]) / range / 6 + 2. / 3;
  hue += turns;
  hue -= std::floor(hue);
  const double sector = std::floor(hue * 6), f = hue * 6 - sector, s = range / most;
  const double p = most * (1 - s), q = most * (1 - s * f), t = most * (1 - s * (1 - f));
  switch (static_cast<int>(sector) % 6) {
    case 0:
      return {most, t, p};
    case 1:
      return {q, most, p};
    case 2:
      return {p, most, t};
    case 3:
      return {p, q, most};
    case 4:
      return {t, p, most};
    default:
      return {most, p, q};
  }
}

// One operation, not rounded: [y][x][c].
std::vector<double> reference(const Image& image, ColorJitter::Operation operation, double amount) {
  std::vector<double> out;
  double mean = 0;
  for (int y = 0; y < image.shape.height; ++y)
    for (int x = 0; x < image.shape.width; ++x) mean += gray_of(image, y, x);
  mean /= static_cast<double>(image.shape.height) * image.shape.width;
  for (int y = 0; y < image.shape.height; ++y)
    for (int x = 0; x < image.shape.width; ++x) {
      if (operation == ColorJitter::hue && image.shape.channels == 3) {
        for (const double v : turned({static_cast<double>(image.at(y, x, 0)), static_cast<double>(image.at(y, x, 1)),
                                      static_cast<double>(image.at(y, x, 2))},
                                     amount))
          out.push_back(v);
        continue;
      }
      for (int c = 0; c < image.shape.channels; ++c) {
        const double v = image.at(y, x, c);
        const double toward = operation == ColorJitter::brightness ? 0
                              : operation == ColorJitter::contrast ? mean
                                                                   : gray_of(image, y, x);
        const bool colorless = image.shape.channels == 1 && operation >= ColorJitter::saturation;
        out.push_back(colorless ? v : std::min(255., std::max(0., amount * v + (1 - amount) * toward)));
      }
    }
  return out;
}

Params only(ColorJitter::Operation operation, float amount) {
  Params params;
  if (operation == ColorJitter::brightness) params.brightness = amount;
  if (operation == ColorJitter::contrast) params.contrast = amount;
  if (operation == ColorJitter::saturation) params.saturation = amount;
  if (operation == ColorJitter::hue) params.hue = amount;
  return params;
}

float amount_of(const Params& params, ColorJitter::Operation operation) {
  return std::array{params.brightness, params.contrast, params.saturation, params.hue}[operation];
}

const ColorJitter::Operation operations[] = {ColorJitter::brightness, ColorJitter::contrast, ColorJitter::saturation,
                                             ColorJitter::hue};

const ImageShape shapes[] = {{1, 1, 3}, {5, 7, 3}, {31, 33, 3}, {32, 32, 3}, {64, 75, 3}, {37, 41, 1}};

Rng rng_at(std::uint64_t position) { return Rng(7, 99, Place{0, position, 0, 0}); }

}  // namespace

TEST_CASE("each change of colour is its formula, rounded") {
  double worst = 0;
  on_every_target([&] {
    for (const ImageShape& shape : shapes)
      for (const bool noise : {false, true}) {
        const Image image = noise ? static_noise(shape, 3) : photo(shape, 4);
        for (const ColorJitter::Operation operation : operations)
          for (const double amount : {0., 0.25, 0.6, 1.4, 3., 100.}) {
            const double by = operation == ColorJitter::hue ? std::fmod(amount, 1.) - 0.3 : amount;
            CAPTURE(shape.height, shape.width, shape.channels, int{operation}, by);
            const Image ours = jittered(image, only(operation, static_cast<float>(by)));
            const std::vector<double> exact = reference(image, operation, static_cast<float>(by));
            for (std::size_t j = 0; j < exact.size(); ++j) worst = std::max(worst, std::abs(exact[j] - ours.pixels[j]));
          }
      }
  });
  // Half a level of rounding, and what binary32 adds.
  CHECK(worst <= 0.501);
}

TEST_CASE("changes of colour follow each other in the order drawn, each rounded, on every target") {
  on_every_target([&] {
    for (std::uint64_t test = 0; test < 60; ++test) {
      const ImageShape& shape = shapes[test % std::size(shapes)];
      const Image image = static_noise(shape, test);
      Rng rng = rng_at(test);
      const Params params =
          ColorJitter({.brightness = 0.5, .contrast = test % 3 == 0 ? 0. : 0.5, .saturation = 0.5, .hue = 0.2})
              .draw(rng);
      Image by_steps = image;
      for (const ColorJitter::Operation operation : params.order)
        by_steps = jittered(by_steps, only(operation, amount_of(params, operation)));
      REQUIRE(jittered(image, params) == by_steps);
    }
  });
}

TEST_CASE("the same bits on every target") {
  const Image image = static_noise({123, 77, 3}, 1);
  std::map<std::vector<std::uint8_t>, int> results;
  on_every_target([&] {
    Image changed = image;
    for (std::uint64_t position = 0; position < 40; ++position) {
      Rng rng = rng_at(position);
      changed =
          jittered(image, ColorJitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.5}).draw(rng));
      ++results[changed.pixels];
    }
  });
  CHECK(results.size() == 40);
}

TEST_CASE("draws of color_jitter are uniform, and each its own") {
  const ColorJitterOptions options{.brightness = 0.4, .contrast = 1.5, .saturation = 0.2, .hue = 0.1};
  const ColorJitter stage(options);
  const int draws = 24000;
  std::array<double, 4> sum{}, least{9, 9, 9, 9}, most{-9, -9, -9, -9};
  std::map<std::array<ColorJitter::Operation, 4>, int> orders;
  for (std::uint64_t position = 0; position < draws; ++position) {
    Rng rng = rng_at(position);
    const Params params = stage.draw(rng);
    ++orders[params.order];
    for (const ColorJitter::Operation operation : operations) {
      const double amount = amount_of(params, operation);
      sum[operation] += amount;
      least[operation] = std::min(least[operation], amount), most[operation] = std::max(most[operation], amount);
    }
    // Another property's range changes nothing.
    Rng again = rng_at(position);
    const Params other = ColorJitter({.brightness = 0, .contrast = 1.5, .saturation = 0.9, .hue = 0.1}).draw(again);
    REQUIRE(other.brightness == 1);
    REQUIRE(other.contrast == params.contrast);
    REQUIRE(other.hue == params.hue);
    REQUIRE(other.order == params.order);
  }
  const double low[] = {0.6, 0, 0.8, -0.1}, high[] = {1.4, 2.5, 1.2, 0.1};
  for (const int k : {0, 1, 2, 3}) {
    const auto at = static_cast<std::size_t>(k);
    const double width = high[k] - low[k];
    CHECK(sum[at] / draws == Approx((low[k] + high[k]) / 2).margin(width * 0.01));
    CHECK(least[at] >= Approx(low[k]));
    CHECK(least[at] < low[k] + 0.01 * width);
    CHECK(most[at] <= Approx(high[k]));
    CHECK(most[at] > high[k] - 0.01 * width);
  }
  CHECK(orders.size() == 24);
  for (const auto& [order, count] : orders) CHECK(count == Approx(1000).margin(150));
}

TEST_CASE("what color_jitter can't do") {
  CHECK(code_of([] { ColorJitter({.brightness = -0.1}); }) == Errc::invalid_argument);
  CHECK(code_of([] { ColorJitter({.contrast = std::nan("")}); }) == Errc::invalid_argument);
  CHECK(code_of([] { ColorJitter({.saturation = 101}); }) == Errc::invalid_argument);
  CHECK(code_of([] { ColorJitter({.hue = 0.51}); }) == Errc::invalid_argument);
  CHECK(code_of([] { jittered(static_noise({4, 4, 2}), only(ColorJitter::contrast, 0.5f)); }) == Errc::unsupported);
  Memory memory;
  memory.add<std::uint8_t>("image", {4, 4, 4}, std::vector<std::uint8_t>(64));
  try {
    (void)(from(memory) | color_jitter("image", {.hue = 0.1}));
    FAIL("nothing was thrown");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::schema_mismatch);
    CHECK(error.stage() == "color_jitter(image)");
  }
}

TEST_CASE("color_jitter in a pipeline works in place between folds, and is in the fingerprint") {
  std::vector<std::uint8_t> all;
  for (std::uint64_t i = 0; i < 12; ++i) {
    const Image image = photo({40, 44, 3}, i);
    all.insert(all.end(), image.pixels.begin(), image.pixels.end());
  }
  Memory memory;
  memory.add<std::uint8_t>("image", {40, 44, 3}, all);
  const ColorJitterOptions options{.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1};
  const Pipeline cropped = from(memory) | seed(3) | random_crop("image", {32, 32}),
                 pipeline = cropped | color_jitter("image", options);
  CHECK(pipeline.plan().find("color_jitter(image): in place -> {image: u8[32, 32, 3]}") != std::string::npos);
  int changed = 0;
  for (std::uint64_t position = 0; position < 12; ++position) {
    const OwnedSample sample = pipeline.at(position), before = cropped.at(position);
    changed += std::memcmp(sample["image"].data, before["image"].data, sample["image"].bytes()) != 0;
    const OwnedSample floats = (pipeline | normalize("image", {.layout = Layout::hwc})).at(position);
    for (std::size_t j = 0; j < sample["image"].bytes(); ++j)
      REQUIRE(reinterpret_cast<const float*>(floats["image"].data)[j] ==
              Approx(std::to_integer<int>(sample["image"].data[j]) / 255.));
  }
  CHECK(changed == 12);
  Loader loader(pipeline | batch(4), {.threads = 2});
  std::uint64_t position = 0;
  for (Batch& batch : loader.epoch())
    for (std::uint64_t row = 0; row < 4; ++row, ++position) {
      const OwnedSample sample = pipeline.at(position);
      REQUIRE(std::memcmp(batch["image"].data + row * sample["image"].bytes(), sample["image"].data,
                          sample["image"].bytes()) == 0);
    }
  CHECK(position == 12);
  CHECK(loader.report().copied_bytes == 0);
  // The store's own memory stays as it is.
  CHECK(std::memcmp(from(memory).at(5)["image"].data, all.data() + 5 * 40 * 44 * 3, 40 * 44 * 3) == 0);
  for (const ColorJitterOptions& other :
       {ColorJitterOptions{.brightness = 0.3, .contrast = 0.4, .saturation = 0.4, .hue = 0.1},
        ColorJitterOptions{.brightness = 0.4, .contrast = 0.3, .saturation = 0.4, .hue = 0.1},
        ColorJitterOptions{.brightness = 0.4, .contrast = 0.4, .saturation = 0.3, .hue = 0.1},
        ColorJitterOptions{.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.2}})
    CHECK((cropped | color_jitter("image", other)).fingerprint() != pipeline.fingerprint());
}

TEST_CASE("changes of colour agree with Pillow's") {
  const char* const python = "/usr/bin/python3";
  if (std::system((std::string(python) + " -c 'import PIL.ImageEnhance' 2>/dev/null").c_str()) != 0)
    PENSTOCK_SKIP("no Pillow for /usr/bin/python3: 12 comparisons were not made");
  const TempFolder folder;
  folder.write("enhance.py",
               "import sys\nfrom PIL import Image, ImageEnhance\n"
               "image = Image.frombytes('RGB', (83, 61), open(sys.argv[1] + '/in', 'rb').read())\n"
               "how = [ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color]\n"
               "for k in range(3):\n"
               "    for f in ['0.0', '0.5', '1.3', '2.5']:\n"
               "        out = how[k](image).enhance(float(f)).tobytes()\n"
               "        open(f'{sys.argv[1]}/{k}-{f}', 'wb').write(out)\n");
  const Image image = photo({61, 83, 3}, 8);
  folder.write("in", {reinterpret_cast<const char*>(image.pixels.data()), image.pixels.size()});
  REQUIRE(std::system((std::string(python) + " " + (folder / "enhance.py") + " " + folder.path().string()).c_str()) ==
          0);
  for (const ColorJitter::Operation operation :
       {ColorJitter::brightness, ColorJitter::contrast, ColorJitter::saturation})
    for (const std::string factor : {"0.0", "0.5", "1.3", "2.5"}) {
      CAPTURE(int{operation}, factor);
      const std::string theirs = text_in(folder / (std::to_string(int{operation}) + "-" + factor));
      const Image ours = jittered(image, only(operation, std::stof(factor)));
      REQUIRE(theirs.size() == ours.pixels.size());
      int worst = 0;
      for (std::size_t j = 0; j < theirs.size(); ++j)
        worst = std::max(worst, std::abs(static_cast<std::uint8_t>(theirs[j]) - ours.pixels[j]));
      // Pillow cuts where we round, and rounds the mean that contrast is measured from.
      CHECK(worst <= (operation == ColorJitter::contrast ? 2 : 1));
    }
}

}  // namespace PENSTOCK_TEST_FILE
