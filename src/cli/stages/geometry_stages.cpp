// SPDX-License-Identifier: Apache-2.0
#include "stages/stage_lists.hpp"

#include <array>
#include <vector>

#include <penstock/transforms/image.hpp>

namespace penstock::cli {

namespace {

constexpr Parameter image_size{"size", size_hint, true};

Stage make_random_resized_crop(const Arguments& a) {
  RandomResizedCropOptions options;
  options.scale = a.pair("scale", options.scale);
  options.ratio = a.pair("ratio", options.ratio);
  return random_resized_crop(fields_of(a), a.size("size"), options);
}

}  // namespace

std::vector<StageSyntax> geometry_stages() {
  return {
      {"crop",
       false,
       {{"top", "N", true}, {"left", "N", true}, {"height", "N", true}, {"width", "N", true}, image_fields},
       [](const Arguments& a) {
         return crop(fields_of(a), Box{a.pixels("top"), a.pixels("left"), a.pixels("height"), a.pixels("width")});
       }},
      {"center_crop",
       false,
       {image_size, image_fields},
       [](const Arguments& a) { return center_crop(fields_of(a), a.size("size")); }},
      {"random_crop",
       false,
       {image_size, image_fields, {"padding", "N"}, {"mode", "constant|reflect"}, {"fill", "N"}, {"label", "N"}},
       [](const Arguments& a) {
         const RandomCropOptions defaults;
         return random_crop(fields_of(a), a.size("size"),
                            {.padding = a.pixels("padding", 0),
                             .mode = std::array{Padding::Mode::constant,
                                                Padding::Mode::reflect}[a.choice("mode", {"constant", "reflect"})],
                             .fill = {a.pixels("fill", defaults.fill[0])},
                             .label = a.pixels("label", defaults.label)});
       }},
      {"random_resized_crop",
       false,
       {image_size, {"scale", "0.08,1"}, {"ratio", "0.75,1.333"}, image_fields},
       make_random_resized_crop},
      {"resize",
       false,
       {image_size, image_fields},
       [](const Arguments& a) { return resize(fields_of(a), a.size("size")); }},
      {"resize_short",
       false,
       {{"length", "N", true}, image_fields},
       [](const Arguments& a) { return resize_short(fields_of(a), a.pixels("length")); }},
      {"letterbox",
       false,
       {image_size, {"fill", "N"}, {"label", "N"}, image_fields},
       [](const Arguments& a) {
         const LetterboxOptions defaults;
         return letterbox(fields_of(a), a.size("size"),
                          {.fill = {a.pixels("fill", defaults.fill[0])}, .label = a.pixels("label", defaults.label)});
       }},
      {"flip_horizontal", false, {image_fields}, [](const Arguments& a) { return flip_horizontal(fields_of(a)); }},
      {"flip_vertical", false, {image_fields}, [](const Arguments& a) { return flip_vertical(fields_of(a)); }},
      {"random_flip",
       false,
       {{"p", "0.5"}, image_fields},
       [](const Arguments& a) { return random_flip(fields_of(a), {.p = a.number("p", 0.5)}); }},
      {"random_flip_vertical",
       false,
       {{"p", "0.5"}, image_fields},
       [](const Arguments& a) { return random_flip_vertical(fields_of(a), {.p = a.number("p", 0.5)}); }},
      {"rot90",
       false,
       {{"quarters", "1"}, image_fields},
       [](const Arguments& a) { return rot90(fields_of(a), static_cast<int>(a.whole("quarters", 1) % 4)); }},
      {"random_rot90", false, {image_fields}, [](const Arguments& a) { return random_rot90(fields_of(a)); }},
  };
}

}  // namespace penstock::cli
