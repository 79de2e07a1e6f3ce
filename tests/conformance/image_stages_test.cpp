// SPDX-License-Identifier: Apache-2.0
// The image stages, held to their contract, on the built-in executor.
#include <penstock/penstock.hpp>
#include <penstock/testing/image_stage.hpp>
#include <penstock/testing/transform.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"

namespace ps = penstock;
using namespace penstock_test;

namespace {

template <class S>
void check(const S& stage, const ps::testing::ImageStageOptions& options = {}) {
  const auto report = ps::testing::check_image_stage([&] { return stage; }, ps::image_executor(), options);
  INFO(stage.name());
  CHECK(report.text() == "");
  CHECK(report.passed());
}

// Images of one size, so that loaders take part.
struct Photos {
  std::uint64_t size() const { return 12; }
  ps::Schema schema() const { return {{"image", ps::DType::u8, {40, 50, 3}}}; }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    const Image image = photo({40, 50, 3}, i);
    std::copy(image.pixels.begin(), image.pixels.end(), out.emplace<std::uint8_t, 3>(0, {40, 50, 3}).begin());
  }
};

// Photos, and how each is stained.
struct StainedPhotos {
  ps::StainMethod method = ps::StainMethod::macenko;
  std::uint64_t size() const { return 12; }
  ps::Schema schema() const {
    return Photos().schema().with({"stain", ps::DType::f32, {method == ps::StainMethod::macenko ? 8 : 6}});
  }
  void read(std::uint64_t i, ps::SampleBuilder& out) const {
    Photos().read(i, out);
    std::vector<float> values = ps::StainFit::reference(method).values();
    for (float& value : values) value *= 1 + 0.01f * static_cast<float>(i);
    std::copy(values.begin(), values.end(),
              out.emplace<float, 1>(1, {static_cast<std::int64_t>(values.size())}).begin());
  }
};

}  // namespace

TEST_CASE("crops keep the contract of an image stage") {
  check(ps::Crop({3, 5, 31, 29}));
  check(ps::CenterCrop({32, 33}));
  check(ps::RandomCrop({40, 40}));
  check(ps::RandomResizedCrop({24, 36}));
  check(ps::CenterCrop({65, 40}), {.images = {{64, 48, 3}, {97, 131, 3}}, .allow_bad_images = true});
}

TEST_CASE("resizes keep the contract of an image stage") {
  check(ps::Resize({50, 50}));
  check(ps::Resize({120, 30}));
  check(ps::ResizeShort(40));
}

TEST_CASE("flips and turns keep the contract of an image stage") {
  check(ps::Flip(ps::Flip::Axis::horizontal));
  check(ps::Flip(ps::Flip::Axis::vertical));
  check(ps::RandomFlip(ps::Flip::Axis::horizontal));
  check(ps::RandomFlip(ps::Flip::Axis::vertical));
  for (int quarters = 0; quarters < 4; ++quarters) check(ps::Rot90(quarters));
  check(ps::RandomRot90());
}

TEST_CASE("conversions keep the contract of an image stage") {
  for (const ps::Layout layout : {ps::Layout::hwc, ps::Layout::chw}) {
    check(ps::Convert({.dtype = ps::DType::f32, .layout = layout, .scale = {0.5}, .bias = {3}}));
    check(ps::Convert({.dtype = ps::DType::f16, .layout = layout}));
    check(ps::Convert({.dtype = ps::DType::u8, .layout = layout}));
    check(ps::Normalize({.mean = {0.4}, .std = {0.2}, .layout = layout}));
  }
  check(ps::Normalize({.mean = {0.485, 0.456, 0.406}, .std = {0.229, 0.224, 0.225}}),
        {.images = {{64, 48, 3}, {97, 131, 3}}});
}

TEST_CASE("image stages keep the contract of a stage, in pipelines and loaders") {
  const auto photos = ps::share(Photos{});
  for (const ps::Stage& stage :
       {ps::random_crop("image", {20, 20}), ps::random_resized_crop("image", {24, 24}), ps::random_flip("image"),
        ps::resize("image", {30, 20}), ps::rot90("image"), ps::normalize("image"),
        ps::color_jitter("image", {.brightness = 0.4, .contrast = 0.3, .saturation = 0.2, .hue = 0.1}),
        ps::stain_jitter("image", {.alpha = 0.2, .beta = 0.1})}) {
    const auto report = ps::testing::check_stage(stage, photos);
    CHECK(report.text() == "");
    CHECK(report.passed());
  }
}

TEST_CASE("normalising stains keeps the contract of a stage, in pipelines and loaders") {
  for (const ps::StainMethod method : {ps::StainMethod::macenko, ps::StainMethod::reinhard}) {
    const auto report = ps::testing::check_stage(ps::normalize_stain("image"), ps::share(StainedPhotos{method}));
    CHECK(report.text() == "");
    CHECK(report.passed());
  }
}
