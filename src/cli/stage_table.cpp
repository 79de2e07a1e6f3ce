#include <algorithm>
#include <array>

#include <penstock/stages/batch.hpp>
#include <penstock/stages/check.hpp>
#include <penstock/stages/collate.hpp>
#include <penstock/stages/fields.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/stages/order.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/encode_png.hpp>
#include <penstock/transforms/image.hpp>
#include <penstock/transforms/numeric.hpp>

#include "output.hpp"
#include "stage_parser.hpp"

namespace penstock::cli {

namespace {

using A = const Arguments&;

constexpr Parameter field{"field", "image"};
constexpr Parameter fields{"field", "image,mask|mask:nearest"};
constexpr Parameter size{"size", size_hint, true};
constexpr Parameter dtype{"dtype", "f32|f16|bf16"};
constexpr Parameter p{"p", "0.5"};

std::string field_of(A a) { return a.text("field", "image"); }
// The first is an image, those after it, and what says so, are masks.
ImageFields fields_of(A a) {
  constexpr std::string_view by_nearest = ":nearest";
  if (!a.given("field")) return "image";
  std::vector<ImageFields::Item> items;
  for (const std::string& name : a.names("field")) {
    if (name.ends_with(by_nearest))
      items.emplace_back(mask(name.substr(0, name.size() - by_nearest.size())));
    else
      items.emplace_back(name);
  }
  return ImageFields(items);
}
DType chosen_dtype(A a) {
  return std::array{DType::f32, DType::f16, DType::bf16, DType::u8}[a.choice("dtype", {"f32", "f16", "bf16", "u8"})];
}

Stage make_split(A a) {
  SplitOptions options;
  options.shares = a.numbers("shares", options.shares);
  options.part = a.count("part", options.part);
  using By = SplitOptions::By;
  options.by = std::array{By::index, By::key, By::group}[a.choice("by", {"index", "key", "group"})];
  options.salt = a.count("salt", options.salt);
  options.stratify = a.text("stratify", options.stratify);
  return split(options);
}

Stage make_bags(A a) {
  BagOptions options;
  if (a.given("seed")) options.seed = a.count("seed");
  options.min_size = a.count("min_size", options.min_size);
  options.balance = a.text("balance", options.balance);
  return bags(a.count("size"), std::move(options));
}

Stage make_shuffle(A a) {
  ShuffleOptions options;
  if (a.given("seed")) options.seed = a.count("seed");
  options.blocks = a.flag("blocks", options.blocks);
  options.window_blocks = a.count("window_blocks", options.window_blocks);
  options.ranks = a.count("ranks", options.ranks);
  return shuffle(options);
}

Stage make_check(A a) {
  CheckOptions options;
  options.verify = a.flag("verify", options.verify);
  options.fold = a.flag("fold", options.fold);
  options.max_sample_bytes = a.count("max_sample_bytes", options.max_sample_bytes);
  return check(options);
}

Stage make_on_error(A a) {
  ErrorPolicy policy;
  policy.policy = std::array{OnError::fail, OnError::replace, OnError::mask,
                             OnError::drop}[a.choice("policy", {"fail", "replace", "mask", "drop"})];
  policy.max_count = a.count("max_count", policy.max_count);
  policy.max_share = a.number("max_share", policy.max_share);
  return on_error(policy);
}

JpegOptions::Cmyk cmyk_of(A a) {
  using Cmyk = JpegOptions::Cmyk;
  return std::array{Cmyk::inverted, Cmyk::by_marker,
                    Cmyk::refused}[a.choice("cmyk", {"inverted", "by_marker", "refused"})];
}

Stage make_decode_image(A a) {
  DecodeImageOptions options;
  options.color = std::array{DecodeImageOptions::rgb, DecodeImageOptions::gray, DecodeImageOptions::as_stored,
                             DecodeImageOptions::labels}[a.choice("color", {"rgb", "gray", "as_stored", "labels"})];
  options.max_pixels = a.count("max_pixels", options.max_pixels);
  options.max_scans = a.pixels("max_scans", options.max_scans);
  options.accept_warnings = a.flag("accept_warnings", options.accept_warnings);
  options.cmyk = cmyk_of(a);
  options.apply_orientation = a.flag("apply_orientation", options.apply_orientation);
  options.dtype = std::array{DType::u8, DType::u16}[a.choice("dtype", {"u8", "u16"})];
  options.high_byte = a.flag("high_byte", options.high_byte);
  return decode_image(field_of(a), options);
}

Stage make_decode_jpeg(A a) {
  JpegOptions options;
  options.color = std::array{JpegOptions::rgb, JpegOptions::gray,
                             JpegOptions::as_stored}[a.choice("color", {"rgb", "gray", "as_stored"})];
  options.max_pixels = a.count("max_pixels", options.max_pixels);
  options.max_scans = a.pixels("max_scans", options.max_scans);
  options.accept_warnings = a.flag("accept_warnings", options.accept_warnings);
  options.cmyk = cmyk_of(a);
  options.apply_orientation = a.flag("apply_orientation", options.apply_orientation);
  return decode_jpeg(field_of(a), options);
}

Stage make_decode_png(A a) {
  PngOptions options;
  options.color = std::array{PngOptions::rgb, PngOptions::gray, PngOptions::rgba, PngOptions::as_stored,
                             PngOptions::labels}[a.choice("color", {"rgb", "gray", "rgba", "as_stored", "labels"})];
  options.dtype = std::array{DType::u8, DType::u16}[a.choice("dtype", {"u8", "u16"})];
  options.high_byte = a.flag("high_byte", options.high_byte);
  options.max_pixels = a.count("max_pixels", options.max_pixels);
  return decode_png(field_of(a), options);
}

Stage make_encode_jpeg(A a) {
  EncodeJpegStageOptions options;
  options.quality = a.pixels("quality", options.quality);
  options.subsampling = std::array{420, 422, 440, 444}[a.choice("subsampling", {"420", "422", "440", "444"})];
  options.progressive = a.flag("progressive", options.progressive);
  options.restart_rows = a.pixels("restart_rows", options.restart_rows);
  options.keep_stored = a.flag("keep_stored", options.keep_stored);
  options.out = a.text("out", options.out);
  return encode_jpeg(field_of(a), options);
}

Stage make_encode_png(A a) {
  EncodePngStageOptions options;
  options.compression = a.pixels("compression", options.compression);
  options.out = a.text("out", options.out);
  return encode_png(field_of(a), options);
}

Stage make_color_jitter(A a) {
  ColorJitterOptions options;
  options.brightness = a.number("brightness", options.brightness);
  options.contrast = a.number("contrast", options.contrast);
  options.saturation = a.number("saturation", options.saturation);
  options.hue = a.number("hue", options.hue);
  return color_jitter(field_of(a), options);
}

Stage make_stain_jitter(A a) {
  StainJitterOptions options;
  options.alpha = a.number("alpha", options.alpha);
  options.beta = a.number("beta", options.beta);
  return stain_jitter(field_of(a), options);
}

Stage make_normalize_stain(A a) {
  NormalizeStainOptions options;
  options.fit = a.text("fit", options.fit);
  if (a.given("target")) {
    const std::vector<double> numbers = a.numbers("target", {});
    options.target = StainFit::of(std::vector<float>(numbers.begin(), numbers.end()));
  }
  return normalize_stain(field_of(a), options);
}

Stage make_random_resized_crop(A a) {
  RandomResizedCropOptions options;
  options.scale = a.pair("scale", options.scale);
  options.ratio = a.pair("ratio", options.ratio);
  return random_resized_crop(fields_of(a), a.size("size"), options);
}

Stage make_normalize(A a) {
  NormalizeOptions options;
  options.mean = a.numbers("mean", options.mean);
  options.std = a.numbers("std", options.std);
  options.dtype = chosen_dtype(a);
  options.layout = a.choice("layout", {"chw", "hwc"}) == 0 ? Layout::chw : Layout::hwc;
  return normalize(field_of(a), options);
}

Stage make_convert(A a) {
  ConvertOptions options;
  options.dtype = chosen_dtype(a);
  options.layout = a.choice("layout", {"hwc", "chw"}) == 0 ? Layout::hwc : Layout::chw;
  options.scale = a.numbers("scale", options.scale);
  options.bias = a.numbers("bias", options.bias);
  return convert(field_of(a), options);
}

constexpr Parameter any_dtype{"dtype", "f32|f64|i64|..."};

DType any_dtype_of(A a, DType otherwise) {
  return static_cast<DType>(
      a.choice("dtype", {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bool", "bf16"},
               static_cast<std::size_t>(otherwise)));
}

Stage make_one_hot(A a) {
  return one_hot(a.text("field", ""), a.whole("classes"), {.dtype = any_dtype_of(a, OneHotOptions{}.dtype)});
}

Stage make_batch(A a) {
  const std::uint64_t rows = a.count("rows");
  return batch(
      rows, {.tail = std::array{Tail::keep, Tail::drop, Tail::pad}[a.choice("tail", {"keep", "drop", "pad"})],
             .by = std::array{BatchOptions::By::order, BatchOptions::By::group}[a.choice("by", {"order", "group"})]});
}

std::vector<StageSyntax> make_table() {
  const std::vector<Parameter> image_only{fields};
  return {
      {"shuffle",
       true,
       {{"seed", "0"}, {"blocks", "true|false"}, {"window_blocks", "16"}, {"ranks", "1"}},
       make_shuffle},
      {"take", true, {{"n", "N", true}}, [](A a) { return take(a.count("n")); }},
      {"skip", true, {{"n", "N", true}}, [](A a) { return skip(a.count("n")); }},
      {"select", true, {{"positions", "I,J,...", true}}, [](A a) { return select(a.counts("positions")); }},
      {"repeat", true, {{"times", "N", true}}, [](A a) { return repeat(a.count("times")); }},
      {"seed", true, {{"value", "N", true}}, [](A a) { return seed(a.count("value")); }},
      {"bags", true, {{"size", "N", true}, {"min_size", "1"}, {"balance", "label"}, {"seed", "0"}}, make_bags},
      {"split",
       true,
       {{"shares", "0.9,0.1"}, {"part", "0"}, {"by", "index|key|group"}, {"salt", "0"}, {"stratify", "label"}},
       make_split},
      {"on_error",
       false,
       {{"policy", "fail|replace|mask|drop", true}, {"max_count", "N"}, {"max_share", "0..1"}},
       make_on_error},
      {"check", false, {{"verify", "true|false"}, {"fold", "true|false"}, {"max_sample_bytes", "N"}}, make_check},
      {"decode_image",
       false,
       {field,
        {"color", "rgb|gray|as_stored|labels"},
        {"max_pixels", "N"},
        {"max_scans", "N"},
        {"accept_warnings", "true|false"},
        {"high_byte", "true|false"},
        {"cmyk", "inverted|by_marker|refused"},
        {"apply_orientation", "true|false"},
        {"dtype", "u8|u16"}},
       make_decode_image},
      {"decode_jpeg",
       false,
       {field,
        {"color", "rgb|gray|as_stored"},
        {"max_pixels", "N"},
        {"max_scans", "N"},
        {"accept_warnings", "true|false"},
        {"cmyk", "inverted|by_marker|refused"},
        {"apply_orientation", "true|false"}},
       make_decode_jpeg},
      {"decode_png",
       false,
       {field,
        {"color", "rgb|gray|rgba|as_stored|labels"},
        {"high_byte", "true|false"},
        {"max_pixels", "N"},
        {"dtype", "u8|u16"}},
       make_decode_png},
      {"encode_jpeg",
       false,
       {field,
        {"quality", "90"},
        {"subsampling", "420|422|440|444"},
        {"progressive", "true|false"},
        {"restart_rows", "N"},
        {"keep_stored", "true|false"},
        {"out", "NAME"}},
       make_encode_jpeg},
      {"encode_png", false, {field, {"compression", "6"}, {"out", "NAME"}}, make_encode_png},
      {"crop",
       false,
       {{"top", "N", true}, {"left", "N", true}, {"height", "N", true}, {"width", "N", true}, fields},
       [](A a) {
         return crop(fields_of(a), Box{a.pixels("top"), a.pixels("left"), a.pixels("height"), a.pixels("width")});
       }},
      {"center_crop", false, {size, fields}, [](A a) { return center_crop(fields_of(a), a.size("size")); }},
      {"random_crop",
       false,
       {size, fields, {"padding", "N"}, {"mode", "constant|reflect"}, {"fill", "N"}, {"label", "N"}},
       [](A a) {
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
       {size, {"scale", "0.08,1"}, {"ratio", "0.75,1.333"}, fields},
       make_random_resized_crop},
      {"resize", false, {size, fields}, [](A a) { return resize(fields_of(a), a.size("size")); }},
      {"resize_short",
       false,
       {{"length", "N", true}, fields},
       [](A a) { return resize_short(fields_of(a), a.pixels("length")); }},
      {"flip_horizontal", false, image_only, [](A a) { return flip_horizontal(fields_of(a)); }},
      {"flip_vertical", false, image_only, [](A a) { return flip_vertical(fields_of(a)); }},
      {"random_flip", false, {p, fields}, [](A a) { return random_flip(fields_of(a), {.p = a.number("p", 0.5)}); }},
      {"random_flip_vertical",
       false,
       {p, fields},
       [](A a) { return random_flip_vertical(fields_of(a), {.p = a.number("p", 0.5)}); }},
      {"rot90",
       false,
       {{"quarters", "1"}, fields},
       [](A a) { return rot90(fields_of(a), static_cast<int>(a.whole("quarters", 1) % 4)); }},
      {"random_rot90", false, image_only, [](A a) { return random_rot90(fields_of(a)); }},
      {"color_jitter",
       false,
       {{"brightness", "0.4"}, {"contrast", "0.4"}, {"saturation", "0.4"}, {"hue", "0.1"}, field},
       make_color_jitter},
      {"stain_jitter", false, {{"alpha", "0.05"}, {"beta", "0.05"}, field}, make_stain_jitter},
      {"normalize_stain",
       false,
       {{"fit", "stain"}, {"target", "8 or 6 numbers, as the fit has them"}, field},
       make_normalize_stain},
      {"normalize", false, {{"mean", "0,0,0"}, {"std", "1,1,1"}, dtype, {"layout", "chw|hwc"}, field}, make_normalize},
      {"convert",
       false,
       {{"dtype", "f32|f16|bf16|u8"}, {"layout", "hwc|chw"}, {"scale", "1"}, {"bias", "0"}, field},
       make_convert},
      {"select_fields", false, {{"names", "image,label", true}}, [](A a) { return select_fields(a.names("names")); }},
      {"drop_fields", false, {{"names", "mask,key", true}}, [](A a) { return drop_fields(a.names("names")); }},
      {"rename",
       false,
       {{"from", "FIELD", true}, {"to", "NAME", true}},
       [](A a) { return rename(a.text("from", ""), a.text("to", "")); }},
      {"cast",
       false,
       {{"field", "label", true}, {"dtype", "f32|i64|...", true}},
       [](A a) { return cast(a.text("field", ""), any_dtype_of(a, DType::f32)); }},
      {"one_hot", false, {{"field", "label", true}, {"classes", "N", true}, any_dtype}, make_one_hot},
      {"sample_rows",
       false,
       {{"fields", "FIELD,FIELD", true}, {"rows", "N", true}},
       [](A a) { return sample_rows(a.names("fields"), a.count("rows")); }},
      {"ragged", false, {{"field", "FIELD", true}}, [](A a) { return ragged(a.text("field", "")); }},
      {"pad",
       false,
       {{"field", "FIELD", true}, {"to", "N"}, {"value", "0"}},
       [](A a) {
         return pad(a.text("field", ""), {.to = a.whole("to", PadOptions{}.to), .value = a.number("value", 0)});
       }},
      {"batch", false, {{"rows", "N", true}, {"tail", "keep|drop|pad"}, {"by", "order|group"}}, make_batch},
  };
}

}  // namespace

std::span<const StageSyntax> stage_table() {
  static const std::vector<StageSyntax> table = make_table();
  return table;
}

}  // namespace penstock::cli
