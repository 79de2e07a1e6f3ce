// SPDX-License-Identifier: Apache-2.0
#include "stages/stage_lists.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/decode_tiff.hpp>
#include <penstock/transforms/decode_webp.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/encode_png.hpp>

namespace penstock::cli {

namespace {

constexpr Parameter followed_image{"field", "image,boxes:boxes"};

JpegOptions::Cmyk cmyk_of(const Arguments& a) {
  using Cmyk = JpegOptions::Cmyk;
  return std::array{Cmyk::inverted, Cmyk::by_marker,
                    Cmyk::refused}[a.choice("cmyk", {"inverted", "by_marker", "refused"})];
}

JpegOptions::Scale scale_of(const Arguments& a) {
  using Scale = JpegOptions::Scale;
  return std::array{Scale::full, Scale::half, Scale::quarter, Scale::eighth,
                    Scale::fit}[a.choice("scale", {"full", "half", "quarter", "eighth", "fit"})];
}

std::optional<std::uint32_t> page_of(const Arguments& a) {
  if (!a.given("page")) return std::nullopt;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(a.count("page"), std::numeric_limits<std::uint32_t>::max()));
}

Stage make_decode_image(const Arguments& a) {
  DecodeImageOptions options;
  options.color = std::array{DecodeImageOptions::rgb, DecodeImageOptions::gray, DecodeImageOptions::as_stored,
                             DecodeImageOptions::labels}[a.choice("color", {"rgb", "gray", "as_stored", "labels"})];
  options.max_pixels = a.count("max_pixels", options.max_pixels);
  options.max_scans = a.pixels("max_scans", options.max_scans);
  options.accept_warnings = a.flag("accept_warnings", options.accept_warnings);
  options.cmyk = cmyk_of(a);
  options.apply_orientation = a.flag("apply_orientation", options.apply_orientation);
  options.scale = scale_of(a);
  options.dtype = std::array{DType::u8, DType::u16}[a.choice("dtype", {"u8", "u16"})];
  options.high_byte = a.flag("high_byte", options.high_byte);
  options.page = page_of(a);
  return decode_image(fields_of(a), options);
}

Stage make_decode_jpeg(const Arguments& a) {
  JpegOptions options;
  options.color = std::array{JpegOptions::rgb, JpegOptions::gray,
                             JpegOptions::as_stored}[a.choice("color", {"rgb", "gray", "as_stored"})];
  options.max_pixels = a.count("max_pixels", options.max_pixels);
  options.max_scans = a.pixels("max_scans", options.max_scans);
  options.accept_warnings = a.flag("accept_warnings", options.accept_warnings);
  options.cmyk = cmyk_of(a);
  options.apply_orientation = a.flag("apply_orientation", options.apply_orientation);
  options.scale = scale_of(a);
  return decode_jpeg(fields_of(a), options);
}

Stage make_decode_png(const Arguments& a) {
  PngOptions options;
  options.color = std::array{PngOptions::rgb, PngOptions::gray, PngOptions::rgba, PngOptions::as_stored,
                             PngOptions::labels}[a.choice("color", {"rgb", "gray", "rgba", "as_stored", "labels"})];
  options.dtype = std::array{DType::u8, DType::u16}[a.choice("dtype", {"u8", "u16"})];
  options.high_byte = a.flag("high_byte", options.high_byte);
  options.max_pixels = a.count("max_pixels", options.max_pixels);
  return decode_png(field_of(a), options);
}

Stage make_decode_tiff(const Arguments& a) {
  TiffOptions options;
  options.color = std::array{TiffOptions::rgb, TiffOptions::gray, TiffOptions::rgba, TiffOptions::as_stored,
                             TiffOptions::labels}[a.choice("color", {"rgb", "gray", "rgba", "as_stored", "labels"})];
  options.dtype = std::array{DType::u8, DType::u16}[a.choice("dtype", {"u8", "u16"})];
  options.high_byte = a.flag("high_byte", options.high_byte);
  options.max_pixels = a.count("max_pixels", options.max_pixels);
  options.apply_orientation = a.flag("apply_orientation", options.apply_orientation);
  options.page = page_of(a);
  return decode_tiff(fields_of(a), options);
}

Stage make_decode_webp(const Arguments& a) {
  WebpOptions options;
  options.color = std::array{WebpOptions::rgb, WebpOptions::gray, WebpOptions::rgba,
                             WebpOptions::as_stored}[a.choice("color", {"rgb", "gray", "rgba", "as_stored"})];
  options.max_pixels = a.count("max_pixels", options.max_pixels);
  return decode_webp(field_of(a), options);
}

Stage make_encode_jpeg(const Arguments& a) {
  EncodeJpegStageOptions options;
  options.quality = a.pixels("quality", options.quality);
  options.subsampling = std::array{420, 422, 440, 444}[a.choice("subsampling", {"420", "422", "440", "444"})];
  options.progressive = a.flag("progressive", options.progressive);
  options.restart_rows = a.pixels("restart_rows", options.restart_rows);
  options.keep_stored = a.flag("keep_stored", options.keep_stored);
  options.out = a.text("out", options.out);
  return encode_jpeg(field_of(a), options);
}

Stage make_encode_png(const Arguments& a) {
  EncodePngStageOptions options;
  options.effort = std::array{EncodePngOptions::normal, EncodePngOptions::fast,
                              EncodePngOptions::small}[a.choice("effort", {"normal", "fast", "small"})];
  options.out = a.text("out", options.out);
  return encode_png(field_of(a), options);
}

}  // namespace

std::vector<StageSyntax> codec_stages() {
  return {
      {"decode_image",
       false,
       {followed_image,
        {"color", "rgb|gray|as_stored|labels"},
        {"max_pixels", "N"},
        {"max_scans", "N"},
        {"accept_warnings", "true|false"},
        {"high_byte", "true|false"},
        {"cmyk", "inverted|by_marker|refused"},
        {"apply_orientation", "true|false"},
        {"scale", "full|half|quarter|eighth|fit"},
        {"dtype", "u8|u16"},
        {"page", "N"}},
       make_decode_image},
      {"decode_jpeg",
       false,
       {followed_image,
        {"color", "rgb|gray|as_stored"},
        {"max_pixels", "N"},
        {"max_scans", "N"},
        {"accept_warnings", "true|false"},
        {"cmyk", "inverted|by_marker|refused"},
        {"apply_orientation", "true|false"},
        {"scale", "full|half|quarter|eighth|fit"}},
       make_decode_jpeg},
      {"decode_png",
       false,
       {image_field,
        {"color", "rgb|gray|rgba|as_stored|labels"},
        {"high_byte", "true|false"},
        {"max_pixels", "N"},
        {"dtype", "u8|u16"}},
       make_decode_png},
      {"decode_tiff",
       false,
       {followed_image,
        {"color", "rgb|gray|rgba|as_stored|labels"},
        {"high_byte", "true|false"},
        {"max_pixels", "N"},
        {"dtype", "u8|u16"},
        {"apply_orientation", "true|false"},
        {"page", "N"}},
       make_decode_tiff},
      {"decode_webp",
       false,
       {image_field, {"color", "rgb|gray|rgba|as_stored"}, {"max_pixels", "N"}},
       make_decode_webp},
      {"encode_jpeg",
       false,
       {image_field,
        {"quality", "90"},
        {"subsampling", "420|422|440|444"},
        {"progressive", "true|false"},
        {"restart_rows", "N"},
        {"keep_stored", "true|false"},
        {"out", "NAME"}},
       make_encode_jpeg},
      {"encode_png", false, {image_field, {"effort", "normal|fast|small"}, {"out", "NAME"}}, make_encode_png},
  };
}

}  // namespace penstock::cli
