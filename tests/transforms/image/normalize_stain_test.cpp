// SPDX-License-Identifier: Apache-2.0
// normalize_stain against its formula in float64, and as a stage.
#include <penstock/transforms/image/normalize_stain.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/image/stain_reference.hpp"
#include "transforms/image/targets.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr auto macenko = StainMethod::macenko, reinhard = StainMethod::reinhard;

Image normalized(Image image, const StainFit& fit, const StainFit& target) {
  normalize_stain(
      View<std::uint8_t, 3>(image.pixels.data(), {image.shape.height, image.shape.width, image.shape.channels}), fit,
      target);
  return image;
}

// A fit as slides have it, and nothing in it grows more than tenfold from one to another.
StainFit random_fit(Numbers& numbers, StainMethod method) {
  const auto from = [&](double low, double high) { return low + numbers.below(10'000) / 10'000.0 * (high - low); };
  StainFit fit;
  fit.method = method;
  if (method == macenko) {
    const std::array<Three, 2> stains{unit_of({from(0.45, 0.8), from(0.5, 0.8), from(0.2, 0.5)}),
                                      unit_of({from(0, 0.35), from(0.7, 1), from(0.05, 0.6)})};
    for (std::size_t s = 0; s < 2; ++s)
      for (std::size_t c = 0; c < 3; ++c) fit.stains[s][c] = static_cast<float>(stains[s][c]);
    fit.max_concentrations = {static_cast<float>(from(0.4, 4)), static_cast<float>(from(0.3, 3))};
  } else {
    fit.mean = {static_cast<float>(from(7.5, 9.2)), static_cast<float>(from(-0.3, 0.1)),
                static_cast<float>(from(-0.05, 0.1))};
    fit.std = {static_cast<float>(from(0.1, 1)), static_cast<float>(from(0.03, 0.3)),
               static_cast<float>(from(0.01, 0.1))};
  }
  return fit;
}

double worst_difference(const Image& image, const StainFit& fit, const StainFit& target) {
  const Image ours = normalized(image, fit, target);
  double worst = 0;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    const Three exact = normalized_by_definition(&image.pixels[i], fit, target);
    for (std::size_t c = 0; c < 3; ++c) worst = std::max(worst, std::abs(exact[c] - ours.pixels[i + c]));
  }
  return worst;
}

// Every colour whose values are multiples of `step`, and the last ones.
Image colour_grid(int step) {
  std::vector<std::uint8_t> levels;
  for (int v = 0; v < 256; v += step) levels.push_back(static_cast<std::uint8_t>(v));
  if (levels.back() != 255) levels.push_back(255);
  Image image({static_cast<std::int32_t>(levels.size() * levels.size()), static_cast<std::int32_t>(levels.size()), 3});
  std::uint8_t* to = image.pixels.data();
  for (const std::uint8_t r : levels)
    for (const std::uint8_t g : levels)
      for (const std::uint8_t b : levels) {
        *to++ = r;
        *to++ = g;
        *to++ = b;
      }
  return image;
}

Memory memory_of(const std::vector<Image>& images, const std::vector<StainFit>& fits) {
  std::vector<std::uint8_t> pixels;
  std::vector<float> values;
  for (const Image& image : images) pixels.insert(pixels.end(), image.pixels.begin(), image.pixels.end());
  for (const StainFit& fit : fits) {
    const std::vector<float> some = fit.values();
    values.insert(values.end(), some.begin(), some.end());
  }
  Memory memory;
  memory.add<std::uint8_t>("image", {images[0].shape.height, images[0].shape.width, 3}, pixels);
  memory.add<float>("stain", {static_cast<std::int64_t>(fits[0].values().size())}, values);
  return memory;
}

}  // namespace

TEST_CASE("normalize_stain is its formula in float64 and rounds once, on every target") {
  const Image grid = colour_grid(15);
  for (const StainMethod method : {macenko, reinhard}) {
    double worst = 0;
    on_every_target([&] {
      for (std::uint64_t test = 0; test < 20; ++test) {
        Numbers numbers(test);
        const StainFit fit = random_fit(numbers, method),
                       target = test == 0 ? StainFit::reference(method) : random_fit(numbers, method);
        const ImageShape shapes[] = {{1, 1, 3}, {5, 7, 3}, {31, 33, 3}, {40, 53, 3}};
        worst = std::max(worst, worst_difference(static_noise(shapes[test % 4], test), fit, target));
        worst = std::max(worst, worst_difference(grid, fit, target));
      }
    });
    CAPTURE(worst);
    // Half a level of rounding, and what binary32 adds.
    CHECK(worst <= 0.52);
    CHECK(worst > 0.49);
  }
}

TEST_CASE("no colour at all is more than 1 from the formula in float64, rounded") {
  const Image grid = colour_grid(3);
  for (const StainMethod method : {macenko, reinhard}) {
    Numbers numbers(77);
    for (int test = 0; test < 3; ++test) {
      const StainFit fit = random_fit(numbers, method), target = StainFit::reference(method);
      CHECK(worst_difference(grid, fit, target) <= 0.52);
    }
    // What is asked for at most: all of it grows tenfold.
    StainFit weak = StainFit::reference(method), strong = weak;
    for (float& value : weak.max_concentrations) value /= 10;
    for (float& value : weak.std) value /= 10;
    CHECK(worst_difference(grid, weak, strong) <= 1);
    // Fits whose two stains hardly differ are no worse.
    weak.stains[1] = weak.stains[0];
    weak.stains[1][0] += 0.025f;
    CHECK(worst_difference(grid, weak, strong) <= 1);
  }
}

TEST_CASE("normalize_stain has the same bits on every target") {
  for (const StainMethod method : {macenko, reinhard}) {
    Numbers numbers(3);
    std::vector<Image> first;
    for (int test = 0; test < 12; ++test) {
      const StainFit fit = random_fit(numbers, method), target = random_fit(numbers, method);
      const Image image = static_noise({37, 61, 3}, static_cast<std::uint64_t>(test));
      on_every_target([&] {
        const Image ours = normalized(image, fit, target);
        if (first.size() == static_cast<std::size_t>(test)) first.push_back(ours);
        REQUIRE(ours == first.back());
      });
    }
  }
}

TEST_CASE("an image that is normalised to its own fit by Reinhard's is itself, and by Macenko's has no third stain") {
  const Image grid = colour_grid(5);
  Numbers numbers(9);
  for (int test = 0; test < 10; ++test) {
    const StainFit fit = random_fit(numbers, reinhard);
    REQUIRE(normalized(grid, fit, fit) == grid);
  }
  const StainedTissue tissue{.seed = 2};
  const Image image = tissue.image({90, 90, 3});
  StainFit true_fit;
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t c = 0; c < 3; ++c) true_fit.stains[s][c] = static_cast<float>(unit_of(tissue.stains[s])[c]);
  true_fit.max_concentrations = {1.6f, 1};
  const Image again = normalized(image, true_fit, true_fit);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) REQUIRE(std::abs(image.pixels[i] - again.pixels[i]) <= 1);
}

TEST_CASE("a slide that is stained darker becomes the same as the lighter one") {
  for (const StainMethod method : {macenko, reinhard}) {
    const StainedTissue light{.strength = {0.8, 0.7}, .seed = 4};
    StainedTissue dark = light;
    dark.strength = {1.3, 1.2};
    const Image a = light.image({120, 120, 3}), b = dark.image({120, 120, 3});
    const StainFit target = StainFit::reference(method);
    const Image same_a = normalized(a, fit_of(a, method), target), same_b = normalized(b, fit_of(b, method), target);
    double before = 0, after = 0;
    int most = 0;
    for (std::size_t i = 0; i < a.pixels.size(); ++i) {
      before += std::abs(a.pixels[i] - b.pixels[i]);
      after += std::abs(same_a.pixels[i] - same_b.pixels[i]);
      most = std::max(most, std::abs(same_a.pixels[i] - same_b.pixels[i]));
    }
    CAPTURE(before / static_cast<double>(a.pixels.size()));
    CAPTURE(after / static_cast<double>(a.pixels.size()));
    CHECK(before > 25 * static_cast<double>(a.pixels.size()));
    // Both have values of 8 bits, so dark ones are known to a few percent only.
    CHECK(after < (method == macenko ? 2 : 6) * static_cast<double>(a.pixels.size()));
    CHECK(most <= (method == macenko ? 20 : 60));
  }
}

TEST_CASE("what torchstain makes of an image, with 256 and with 240 as its white") {
  // Its formula: optical densities by `white`, and nothing taken away on the way back.
  const auto theirs = [](const std::uint8_t* rgb, const StainFit& fit, const StainFit& target, double white) {
    Three density{};
    for (std::size_t c = 0; c < 3; ++c) density[c] = -std::log((rgb[c] + 1) / white);
    const std::array<double, 2> found = concentrations_of({wide(fit.stains[0]), wide(fit.stains[1])}, density);
    Three made{};
    for (std::size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (std::size_t s = 0; s < 2; ++s)
        sum += static_cast<double>(target.stains[s][c]) * found[s] *
               static_cast<double>(target.max_concentrations[s] / fit.max_concentrations[s]);
      made[c] = std::min(255.0, white * std::exp(-sum));
    }
    return made;
  };
  const StainFit target = StainFit::reference(macenko);
  StainFit fit = target;
  fit.stains = {{{0.62f, 0.68f, 0.3913f}, {0.15f, 0.95f, 0.2739f}}};
  fit.max_concentrations = {1.6f, 1.2f};
  const auto scaled = [](Image image, double factor, double before, double after) {
    for (std::uint8_t& value : image.pixels)
      value = static_cast<std::uint8_t>(std::clamp(std::round((value + before) * factor - after), 0.0, 255.0));
    return image;
  };
  const Image image = colour_grid(10);
  const Image of_256 = normalized(image, fit, target);
  // As the page says: lighter before, darker after.
  const Image of_240 = scaled(normalized(scaled(image, 256.0 / 240, 1, 1), fit, target), 240.0 / 256, 1, 0);
  double worst_256 = 0, worst_240 = 0, apart = 0;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    const std::uint8_t* const pixel = &image.pixels[i];
    if (*std::max_element(pixel, pixel + 3) > 238 || *std::min_element(pixel, pixel + 3) < 50) continue;
    const Three by_256 = theirs(pixel, fit, target, 256), by_240 = theirs(pixel, fit, target, 240);
    for (std::size_t c = 0; c < 3; ++c) {
      worst_256 = std::max(worst_256, std::abs(by_256[c] - 1 - of_256.pixels[i + c]));
      // Above 239 nothing is left here to make lighter.
      if (by_240[c] <= 239) worst_240 = std::max(worst_240, std::abs(by_240[c] - of_240.pixels[i + c]));
      apart = std::max(apart, std::abs(by_240[c] - of_256.pixels[i + c]));
    }
  }
  CHECK(worst_256 <= 1);
  CHECK(worst_240 <= 3);
  CHECK(apart > 5);
  // Glass stays what it is here, and gets darker there.
  const std::array<std::uint8_t, 3> glass{255, 255, 255};
  Image white({1, 1, 3});
  std::ranges::copy(glass, white.pixels.begin());
  CHECK(normalized(white, fit, target).pixels == white.pixels);
}

TEST_CASE("what was normalised has the target's fit") {
  const Image image = StainedTissue{.strength = {1.2, 0.9}, .seed = 6}.image({150, 150, 3});
  for (const StainMethod method : {macenko, reinhard}) {
    StainFit target = fit_of(
        StainedTissue{
            .stains = {{{0.5626, 0.7201, 0.4062}, {0.2159, 0.8012, 0.5581}}}, .strength = {0.8, 0.8}, .seed = 7}
            .image({100, 100, 3}),
        method);
    const StainFit now = fit_of(normalized(image, fit_of(image, method), target), method);
    if (method == macenko) {
      for (std::size_t s = 0; s < 2; ++s) {
        CHECK(degrees_between(wide(now.stains[s]), wide(target.stains[s])) < 1);
        CHECK(static_cast<double>(now.max_concentrations[s]) ==
              Approx(static_cast<double>(target.max_concentrations[s])).epsilon(0.05));
      }
    } else {
      for (std::size_t c = 0; c < 3; ++c) {
        CHECK(static_cast<double>(now.mean[c]) == Approx(static_cast<double>(target.mean[c])).margin(0.02));
        CHECK(static_cast<double>(now.std[c]) == Approx(static_cast<double>(target.std[c])).epsilon(0.1));
      }
    }
  }
}

TEST_CASE("fits that can't be are errors that say why") {
  const Image image = static_noise({4, 4, 3});
  const float no_number = std::numeric_limits<float>::quiet_NaN();
  for (const StainMethod method : {macenko, reinhard}) {
    const StainFit good = StainFit::reference(method);
    const auto refused = [&](const StainFit& fit) {
      const Error error = error_of([&] { normalized(image, fit, good); });
      CHECK(error.code() == Errc::corrupt);
      CHECK(code_of([&] { normalized(image, good, fit); }) == Errc::corrupt);
      CHECK(code_of([&] { (void)normalize_stain("image", {.target = fit}); }) == Errc::invalid_argument);
      return error;
    };
    StainFit bad = good;
    if (method == macenko) {
      bad.stains[1] = bad.stains[0];
      CHECK(mentions(refused(bad), "less than a degree apart"));
      bad.stains[1][0] += 0.01f;  // half a degree
      CHECK(mentions(refused(bad), "less than a degree apart"));
      bad.stains[1][0] += 0.03f;
      CHECK_NOTHROW(normalized(image, bad, good));
      bad = good;
      bad.stains[0] = {0, 0, 0};
      (void)refused(bad);
      bad = good;
      bad.stains[0][1] = no_number;
      (void)refused(bad);
      bad = good;
      bad.max_concentrations[1] = 0;
      CHECK(mentions(refused(bad), "concentrations are not positive"));
      bad.max_concentrations[1] = no_number;
      (void)refused(bad);
    } else {
      bad.std[2] = 0;
      CHECK(mentions(refused(bad), "deviations are not positive"));
      bad = good;
      bad.mean[0] = std::numeric_limits<float>::infinity();
      CHECK(mentions(refused(bad), "means are no numbers"));
    }
    CHECK(code_of([&] { normalized(static_noise({4, 4, 1}), good, good); }) == Errc::unsupported);
    CHECK(code_of([&] { normalized(image, good, StainFit::reference(method == macenko ? reinhard : macenko)); }) ==
          Errc::invalid_argument);
  }
  CHECK_NOTHROW(normalized(Image({0, 5, 3}), StainFit::reference(macenko), StainFit::reference(macenko)));
  CHECK_NOTHROW(normalized(Image({0, 5, 3}), StainFit::reference(reinhard), StainFit::reference(reinhard)));
}

TEST_CASE("normalize_stain takes each sample's fit, the same at any number of threads, folded or not") {
  for (const StainMethod method : {macenko, reinhard}) {
    Numbers numbers(5);
    std::vector<Image> images;
    std::vector<StainFit> fits;
    for (std::uint64_t i = 0; i < 12; ++i) {
      images.push_back(StainedTissue{.seed = i}.image({24, 30, 3}));
      fits.push_back(random_fit(numbers, method));
    }
    const StainFit target = random_fit(numbers, method);
    const Pipeline cropped = from(memory_of(images, fits)) | shuffle({.seed = 3}) | random_crop("image", {20, 21}),
                   pipeline = cropped | normalize_stain("image", {.target = target}) | random_flip("image") | batch(4);
    CHECK(pipeline.plan().find("normalize_stain(image) -> {image: u8[20, 21, 3], stain: f32[") != std::string::npos);
    const Pipeline unfolded = pipeline | check({.fold = false});
    for (const unsigned threads : {1u, 3u}) {
      Loader loader(pipeline, {.threads = threads}), other(unfolded, {.threads = threads});
      for (Batch& batch : loader.epoch()) {
        const auto same = other.next();
        REQUIRE(std::memcmp(batch["image"].data, (*same)["image"].data, batch["image"].bytes()) == 0);
      }
    }
    const Pipeline alone = cropped | normalize_stain("image", {.target = target});
    for (std::uint64_t position = 0; position < 12; ++position) {
      const OwnedSample before = cropped.at(position), after = alone.at(position);
      Image image({20, 21, 3});
      std::memcpy(image.pixels.data(), before["image"].data, image.pixels.size());
      const auto values = before["stain"].as<const float, 1>();
      image = normalized(image, StainFit::of(values.flat()), target);
      REQUIRE(std::memcmp(after["image"].data, image.pixels.data(), image.pixels.size()) == 0);
    }
    // The store's own memory stays as it is.
    const auto stored = from(memory_of(images, fits)) | normalize_stain("image");
    const OwnedSample once = stored.at(0), twice = stored.at(0);
    CHECK(std::memcmp(once["image"].data, twice["image"].data, once["image"].bytes()) == 0);
  }
}

TEST_CASE("what normalize_stain is given is in the fingerprint") {
  const Memory memory = memory_of({static_noise({8, 8, 3})}, {StainFit::reference(macenko)});
  StainFit other = StainFit::reference(macenko);
  other.max_concentrations[0] += 0.001f;
  const auto print = [&](const NormalizeStainOptions& options) {
    return (from(memory) | normalize_stain("image", options)).fingerprint();
  };
  CHECK(print({}) == print({}));
  CHECK(print({.target = StainFit::reference(macenko)}) != print({.target = other}));
  CHECK(print({}) != print({.target = other}));
  CHECK((from(memory) | penstock::rename("stain", "fit") | normalize_stain("image", {.fit = "fit"})).fingerprint() !=
        print({}));
}

TEST_CASE("normalize_stain is refused where its fields are others, and a bad fit is an error of its sample alone") {
  const Memory good = memory_of({static_noise({8, 8, 3}), static_noise({8, 8, 3}, 1)},
                                {StainFit::reference(macenko), StainFit::reference(macenko)});
  const auto joined = [&](const Pipeline& pipeline, const NormalizeStainOptions& options = {}) {
    return error_of([&] { (void)(pipeline | normalize_stain("image", options)); });
  };
  CHECK(joined(from(good) | drop_fields({"stain"})).code() == Errc::schema_mismatch);
  CHECK(joined(from(good) | drop_fields({"image"})).code() == Errc::schema_mismatch);
  CHECK(mentions(joined(from(good), {.target = StainFit::reference(reinhard)}),
                 "field \"stain\" has fits of Macenko's, and `target` is of Reinhard's method"));
  const auto with_fields = [&](const Shape& image, const Shape& fit, auto value) {
    Memory memory;
    memory.add<std::uint8_t>("image", image, std::vector<std::uint8_t>(image.elements()));
    memory.add<decltype(value)>("stain", fit, std::vector<decltype(value)>(fit.elements()));
    const Error error = joined(from(memory));
    CHECK(error.code() == Errc::schema_mismatch);
    CHECK(error.stage() == "normalize_stain(image)");
    return error;
  };
  CHECK(joined(from(good) | batch(2)).code() == Errc::invalid_argument);
  CHECK(mentions(with_fields({8, 8, 3}, {8}, 1.0), "f32 [8] (Macenko) or f32 [6] (Reinhard)"));
  CHECK(mentions(with_fields({8, 8, 3}, {8, 1}, 1.0f), "f32 [8] (Macenko) or f32 [6] (Reinhard)"));
  CHECK(mentions(with_fields({8, 8, 3}, {7}, 1.0f), "\"stain\" has 7"));
  CHECK(mentions(with_fields({8, 8, 1}, {8}, 1.0f), "images u8 [H, W, 3]"));

  StainFit bad = StainFit::reference(macenko);
  bad.max_concentrations[1] = 0;
  const Memory with_bad = memory_of({static_noise({8, 8, 3}), static_noise({8, 8, 3}, 1), static_noise({8, 8, 3}, 2)},
                                    {StainFit::reference(macenko), bad, StainFit::reference(macenko)});
  const Pipeline pipeline = from(with_bad) | normalize_stain("image");
  const Error error = error_of([&] { (void)pipeline.at(1); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(error.stage() == "normalize_stain(image)");
  CHECK(mentions(error, "field \"stain\" is no fit of stains: its concentrations are not positive"));
  Loader loader(pipeline | on_error({.policy = OnError::drop}) | batch(2));
  const auto batch = loader.next();
  CHECK(batch->size() == 2);
  CHECK(batch->indices()[1] == 2);
}
