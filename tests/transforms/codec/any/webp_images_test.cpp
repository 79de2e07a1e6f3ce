// SPDX-License-Identifier: Apache-2.0
// decode_image takes WebP, as decode_webp decodes it.
#include <cstring>

#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_webp.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/png/png_files.hpp"
#include "transforms/codec/webp/webp_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

Image whole(ImageDecoding& decoding, const Bytes& file) {
  TestScratch scratch;
  const ImageShape shape = decoding.open(file);
  return copied(decoding.decode({0, 0, shape.height, shape.width}, false, nullptr, scratch));
}

}  // namespace

TEST_CASE("decode_image decodes each WebP as decode_webp does") {
  const std::pair<DecodeImageOptions::Color, WebpOptions::Color> colors[] = {
      {DecodeImageOptions::rgb, WebpOptions::rgb},
      {DecodeImageOptions::gray, WebpOptions::gray},
      {DecodeImageOptions::as_stored, WebpOptions::as_stored}};
  for (const auto& [color, webp_color] : colors) {
    const auto any = any_image_decoder({.color = color})->start();
    const auto wide = any_image_decoder({.color = color, .dtype = DType::u16})->start();
    for (const WebpKind& kind : webp_kinds()) {
      const Bytes file = webp_file({31, 22}, kind, 4);
      const Image made = whole(*any, file), large = whole(*wide, file);
      REQUIRE(made == plainly_decoded(file, webp_color));
      REQUIRE(large.shape.element == DType::u16);
      for (std::size_t i = 0; i < made.pixels.size(); ++i) {
        std::uint16_t value;
        std::memcpy(&value, large.pixels.data() + 2 * i, 2);
        REQUIRE(value == made.pixels[i] * 257);
      }
    }
  }
}

TEST_CASE("limits of decode_image hold for WebP, and a WebP has no labels") {
  const Bytes file = webp_file({40, 50}, {}, 1);
  CHECK(any_image_decoder({.max_pixels = 2000})->start()->open(file) == ImageShape{40, 50, 3});
  CHECK(code_of([&] { any_image_decoder({.max_pixels = 1999})->start()->open(file); }) == Errc::limit_exceeded);
  const Error error = error_of([&] { any_image_decoder({.color = DecodeImageOptions::labels})->start()->open(file); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(mentions(error, "the data is a WebP, which keeps no label as it was: store masks as PNG"));
}

TEST_CASE("PNG and WebP go through one stage by turns") {
  Encoded source;
  for (std::uint64_t i = 0; i < 10; ++i) {
    source.files.push_back(webp_file({50, 60}, webp_kinds()[i % webp_kinds().size()], i));
    source.files.push_back(PngFile({2, 8}, {50, 60}, i).bytes());
  }
  const Pipeline chain = from(source) | decode_image() | random_crop("image", {24, 28});
  const Bytes folded = all_bytes(chain | batch(4));
  CHECK(folded.size() == 20 * 24 * 28 * 3);
  CHECK(all_bytes(chain | check({.verify = true, .fold = false}) | batch(4)) == folded);
}

TEST_CASE("the first bytes of a WebP are a WebP that is cut off") {
  const auto decoding = any_image_decoder()->start();
  const std::string file = "RIFF1234WEBP";
  for (const std::size_t bytes : {4u, 7u, 11u}) {
    const auto part = std::as_bytes(std::span(file)).first(bytes);
    const Error error = error_of([&] { (void)decoding->open(part); });
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, "cut off"));
  }
}

}  // namespace PENSTOCK_TEST_FILE
