// SPDX-License-Identifier: Apache-2.0
#include "stages/stage_lists.hpp"

#include <array>
#include <vector>

#include <penstock/transforms/image.hpp>

namespace penstock::cli {

namespace {

DType chosen_dtype(const Arguments& a) {
  return std::array{DType::f32, DType::f16, DType::bf16, DType::u8}[a.choice("dtype", {"f32", "f16", "bf16", "u8"})];
}

Stage make_color_jitter(const Arguments& a) {
  ColorJitterOptions options;
  options.brightness = a.number("brightness", options.brightness);
  options.contrast = a.number("contrast", options.contrast);
  options.saturation = a.number("saturation", options.saturation);
  options.hue = a.number("hue", options.hue);
  return color_jitter(field_of(a), options);
}

Stage make_stain_jitter(const Arguments& a) {
  StainJitterOptions options;
  options.alpha = a.number("alpha", options.alpha);
  options.beta = a.number("beta", options.beta);
  return stain_jitter(field_of(a), options);
}

Stage make_normalize_stain(const Arguments& a) {
  NormalizeStainOptions options;
  options.fit = a.text("fit", options.fit);
  if (a.given("target")) {
    const std::vector<double> numbers = a.numbers("target", {});
    options.target = StainFit::of(std::vector<float>(numbers.begin(), numbers.end()));
  }
  return normalize_stain(field_of(a), options);
}

Stage make_normalize(const Arguments& a) {
  NormalizeOptions options;
  options.mean = a.numbers("mean", options.mean);
  options.std = a.numbers("std", options.std);
  options.dtype = chosen_dtype(a);
  options.layout = a.choice("layout", {"chw", "hwc"}) == 0 ? Layout::chw : Layout::hwc;
  return normalize(field_of(a), options);
}

Stage make_random_erasing(const Arguments& a) {
  RandomErasingOptions options;
  options.probability = a.number("probability", options.probability);
  options.area = a.pair("area", options.area);
  options.aspect = a.pair("aspect", options.aspect);
  options.value = a.numbers("value", options.value);
  return random_erasing(field_of(a), options);
}

Stage make_mixup(const Arguments& a) {
  MixupOptions options;
  if (a.given("fields")) options.fields = a.names("fields");
  options.alpha = a.number("alpha", options.alpha);
  return mixup(options);
}

Stage make_cutmix(const Arguments& a) {
  CutmixOptions options;
  options.image = field_of(a);
  if (a.given("fields")) options.fields = a.names("fields");
  options.alpha = a.number("alpha", options.alpha);
  return cutmix(options);
}

Stage make_convert(const Arguments& a) {
  ConvertOptions options;
  options.dtype = chosen_dtype(a);
  options.layout = a.choice("layout", {"hwc", "chw"}) == 0 ? Layout::hwc : Layout::chw;
  options.scale = a.numbers("scale", options.scale);
  options.bias = a.numbers("bias", options.bias);
  return convert(field_of(a), options);
}

}  // namespace

std::vector<StageSyntax> pixel_stages() {
  return {
      {"color_jitter",
       false,
       {{"brightness", "0.4"}, {"contrast", "0.4"}, {"saturation", "0.4"}, {"hue", "0.1"}, image_field},
       make_color_jitter},
      {"stain_jitter", false, {{"alpha", "0.05"}, {"beta", "0.05"}, image_field}, make_stain_jitter},
      {"normalize_stain",
       false,
       {{"fit", "stain"}, {"target", "8 or 6 numbers, as the fit has them"}, image_field},
       make_normalize_stain},
      {"random_erasing",
       false,
       {{"probability", "0.5"}, {"area", "0.02,0.33"}, {"aspect", "0.3,3.3"}, {"value", "0"}, image_field},
       make_random_erasing},
      {"mixup", false, {{"fields", "image,label"}, {"alpha", "0.2"}}, make_mixup},
      {"cutmix", false, {{"fields", "label"}, {"alpha", "1"}, image_field}, make_cutmix},
      {"normalize",
       false,
       {{"mean", "0,0,0"}, {"std", "1,1,1"}, {"dtype", "f32|f16|bf16"}, {"layout", "chw|hwc"}, image_field},
       make_normalize},
      {"convert",
       false,
       {{"dtype", "f32|f16|bf16|u8"}, {"layout", "hwc|chw"}, {"scale", "1"}, {"bias", "0"}, image_field},
       make_convert},
  };
}

}  // namespace penstock::cli
