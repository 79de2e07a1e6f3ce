// SPDX-License-Identifier: Apache-2.0
// Images of four inks.
#include <cmath>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>
#include <penstock/transforms/seekable_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// What exact arithmetic makes of the inks that libjpeg finds in the file.
Image reference(const Image& inks, bool inverted, int channels = 3) {
  Image out({inks.shape.height, inks.shape.width, channels});
  for (std::size_t i = 0; i < inks.pixels.size() / 4; ++i) {
    const auto ink = [&](std::size_t c) { return inverted ? 255 - inks.pixels[4 * i + c] : inks.pixels[4 * i + c]; };
    const int light = 255 - ink(3);
    double color[3];
    for (std::size_t c = 0; c < 3; ++c) color[c] = light - std::round(ink(c) * light / 255.0);
    if (channels == 3) {
      for (std::size_t c = 0; c < 3; ++c) out.pixels[3 * i + c] = static_cast<std::uint8_t>(color[c]);
    } else {
      out.pixels[i] =
          static_cast<std::uint8_t>((19595 * color[0] + 38470 * color[1] + 7471 * color[2] + 32768) / 65536);
    }
  }
  return out;
}

Image solid(const std::array<std::uint8_t, 4>& inks) {
  Image image({9, 11, 4});
  for (std::size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = inks[i % 4];
  return image;
}

std::vector<PlainJpeg> kinds() {
  std::vector<PlainJpeg> all;
  for (const auto colors : {PlainJpeg::cmyk, PlainJpeg::inks})
    for (const auto& luma : {std::array{1, 1}, {2, 2}, {2, 1}})
      for (const bool progressive : {false, true})
        all.push_back(
            {.quality = 95, .luma = luma, .progressive = progressive, .colors = colors, .jfif = false, .adobe = true});
  return all;
}

}  // namespace

TEST_CASE("four inks become the colours that Pillow makes of them") {
  // Values of the file, and what Pillow's convert("RGB") and convert("L") made of them.
  struct Case {
    std::array<std::uint8_t, 4> inks;
    std::array<int, 3> color;
    int gray;
  };
  for (const Case& test : {Case{{255, 255, 255, 255}, {255, 255, 255}, 255}, Case{{0, 0, 0, 0}, {0, 0, 0}, 0},
                           Case{{0, 255, 255, 255}, {0, 255, 255}, 179}, Case{{200, 100, 50, 128}, {100, 50, 25}, 62},
                           Case{{17, 34, 51, 201}, {13, 27, 40}, 24}, Case{{77, 160, 3, 77}, {23, 48, 1}, 35}}) {
    const Bytes bytes = plain_encode(solid(test.inks), {.quality = 100, .colors = PlainJpeg::inks, .adobe = true});
    const Image color = decoded(bytes), gray = decoded(bytes, {.color = JpegOptions::gray});
    REQUIRE(color.shape == ImageShape{9, 11, 3});
    REQUIRE(gray.shape == ImageShape{9, 11, 1});
    CAPTURE(test.inks);
    for (std::int32_t c = 0; c < 3; ++c) CHECK(color.at(8, 10, c) == test.color[static_cast<std::size_t>(c)]);
    CHECK(gray.at(8, 10, 0) == test.gray);
  }
}

TEST_CASE("parts of an image of four inks have the pixels of the whole") {
  const ImageShape shape{75, 91, 4};
  for (const PlainJpeg& kind : kinds()) {
    const Bytes plain = plain_encode(photo(shape, 3, 60), kind);
    const Image inks = plain_decode(plain);
    CAPTURE(kind.colors, kind.luma, kind.progressive);
    for (const bool restarts : {false, true}) {
      const Bytes bytes = restarts ? seekable_jpeg(plain, {.every = 2}) : plain;
      for (const int channels : {1, 3}) {
        const Image whole = reference(inks, true, channels);
        const JpegOptions options{.color = channels == 1 ? JpegOptions::gray : JpegOptions::as_stored};
        REQUIRE(decoded(bytes, options) == whole);
        const auto decoding = jpeg_decoder(options)->start();
        Numbers numbers(7);
        for (int n = 0; n < 60; ++n) {
          const Box box = random_box(numbers, shape);
          CAPTURE(box.top, box.left, box.height, box.width);
          TestScratch scratch;
          REQUIRE(decoding->open(bytes) == whole.shape);
          REQUIRE(copied(decoding->decode(box, n % 4 == 0, nullptr, scratch)) == cut(whole, box));
        }
        Image into(whole.shape);
        TestScratch scratch;
        decoding->decode({0, 0, shape.height, shape.width}, false, reinterpret_cast<std::byte*>(into.pixels.data()),
                         scratch);
        CHECK(into == whole);
      }
    }
  }
}

TEST_CASE("what the values of four inks mean can be chosen") {
  using Cmyk = JpegOptions::Cmyk;
  const Image image = photo({20, 30, 4}, 1, 30);
  const Bytes marked = plain_encode(image, {.luma = {1, 1}, .colors = PlainJpeg::inks, .adobe = true}),
              bare = plain_encode(image, {.luma = {1, 1}, .colors = PlainJpeg::inks, .adobe = false});
  const Image inks = plain_decode(marked);
  REQUIRE(plain_decode(bare) == inks);
  CHECK(decoded(bare) == reference(inks, true));
  CHECK(decoded(bare, {.cmyk = Cmyk::by_marker}) == reference(inks, false));
  CHECK(decoded(marked, {.cmyk = Cmyk::by_marker}) == reference(inks, true));
  const Error error = error_of([&] { decoded(marked, {.cmyk = Cmyk::refused}); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(error.sample_scoped());
  CHECK(jpeg_decoder({.cmyk = Cmyk::by_marker})->describe() ==
        "rgb, max_pixels 268435456, max_scans 64, cmyk by_marker");
  CHECK(jpeg_decoder({.cmyk = Cmyk::refused})->describe() == "rgb, max_pixels 268435456, max_scans 64, cmyk refused");
}

TEST_CASE("a chain on images of four inks gives the same bits folded or not, verified or not") {
  Encoded source;
  for (const PlainJpeg& kind : kinds()) {
    source.files.push_back(plain_encode(photo({90, 80, 4}, source.files.size(), 30), kind));
    source.files.push_back(seekable_jpeg(source.files.back(), {.every = 1}));
  }
  const Pipeline chain = from(source) | decode_jpeg() | random_resized_crop("image", {30, 28}) | random_flip("image");
  const Bytes folded = all_bytes(chain | batch(8));
  for (const bool verify : {false, true})
    for (const bool fold : {false, true})
      CHECK(all_bytes(chain | check({.verify = verify, .fold = fold}) | batch(8)) == folded);
}

TEST_CASE("damage in an image of four inks is an error") {
  const Bytes bytes = plain_encode(photo({64, 64, 4}, 3, 60), kinds().front());
  for (const std::size_t some : {bytes.size() / 2, bytes.size() - 2})
    CHECK(error_of([&] { decoded(std::span(bytes).first(some)); }).code() == Errc::corrupt);
}

}  // namespace PENSTOCK_TEST_FILE
