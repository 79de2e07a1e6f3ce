// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

struct Kind {
  const char* name;
  int channels;
  EncodeJpegOptions options;
};
const Kind kinds[] = {{"4:2:0", 3, {.subsampling = 420}},
                      {"4:2:2", 3, {.subsampling = 422}},
                      {"4:4:0", 3, {.subsampling = 440}},
                      {"4:4:4", 3, {.subsampling = 444}},
                      {"grey", 1, {}},
                      {"4:2:0 progressive", 3, {.subsampling = 420, .progressive = true}},
                      {"4:4:4 progressive", 3, {.subsampling = 444, .progressive = true}},
                      {"grey progressive", 1, {.progressive = true}},
                      {"4:2:0 restarts", 3, {.quality = 95, .subsampling = 420, .restart_rows = 1}},
                      {"4:2:2 restarts", 3, {.quality = 30, .subsampling = 422, .restart_rows = 2}}};

}  // namespace

TEST_CASE("a part of a JPEG has the pixels of a whole decode") {
  std::size_t boxes = 0;
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      CAPTURE(seed);
      Numbers numbers(seed + 31);
      const ImageShape shape{numbers.from(1, 130), numbers.from(1, 170), kind.channels};
      const std::vector<std::byte> bytes = encode_jpeg(photo(shape, seed, 20).view(), kind.options);
      const Image whole = plain_decode(bytes);
      const auto decoding = jpeg_decoder()->start();
      for (int n = 0; n < 60; ++n, ++boxes) {
        Box box{0, 0, numbers.from(1, shape.height), numbers.from(1, shape.width)};
        if (n % 4 == 0) box.width = shape.width;
        if (n % 4 == 1) box.height = std::min(box.height, 3);
        if (n % 4 == 2) box.width = std::min(box.width, 3);
        box.top = numbers.from(0, shape.height - box.height);
        box.left = numbers.from(0, shape.width - box.width);
        CAPTURE(shape.height, shape.width, box.top, box.left, box.height, box.width);
        TestScratch scratch;
        REQUIRE(decoding->open(bytes) == whole.shape);
        REQUIRE(copied(decoding->decode(box, n % 3 == 0, nullptr, scratch)) == cut(whole, box));
      }
    }
  }
  std::printf("jpeg: %zu boxes\n", boxes);
}

TEST_CASE("every box of a small JPEG has the pixels of a whole decode") {
  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    const ImageShape shape{35, 37, kind.channels};
    const std::vector<std::byte> bytes = encode_jpeg(static_noise(shape).view(), kind.options);
    const Image whole = plain_decode(bytes);
    const auto decoding = jpeg_decoder()->start();
    for (std::int32_t top = 0; top < shape.height; ++top) {
      for (std::int32_t left = 0; left < shape.width; ++left) {
        const Box box{top, left, std::min(1 + top % 5, shape.height - top), std::min(1 + left % 7, shape.width - left)};
        CAPTURE(box.top, box.left, box.height, box.width);
        TestScratch scratch;
        decoding->open(bytes);
        REQUIRE(copied(decoding->decode(box, false, nullptr, scratch)) == cut(whole, box));
      }
    }
  }
}

TEST_CASE("a whole image is decoded to where it is wanted") {
  for (const bool verify : {false, true}) {
    const std::vector<std::byte> bytes = encode_jpeg(photo({50, 61, 3}).view());
    const Image whole = plain_decode(bytes);
    Image into(whole.shape);
    TestScratch scratch;
    const auto decoding = jpeg_decoder()->start();
    decoding->open(bytes);
    const Pixels pixels =
        decoding->decode({0, 0, 50, 61}, verify, reinterpret_cast<std::byte*>(into.pixels.data()), scratch);
    CHECK(pixels.data == into.pixels.data());
    CHECK(pixels.stride == 61 * 3);
    CHECK(into == whole);
    // Asked again, it decodes again.
    CHECK(copied(decoding->decode({7, 8, 9, 10}, verify, nullptr, scratch)) == cut(whole, {7, 8, 9, 10}));
  }
}

TEST_CASE("colours are converted as asked") {
  const std::vector<std::byte> gray = encode_jpeg(photo({20, 30, 1}).view()),
                               color = encode_jpeg(photo({20, 30, 3}).view());
  const auto decode = [](JpegOptions::Color to, std::span<const std::byte> bytes) {
    TestScratch scratch;
    const auto decoding = jpeg_decoder({.color = to})->start();
    const ImageShape shape = decoding->open(bytes);
    return copied(decoding->decode({0, 0, shape.height, shape.width}, false, nullptr, scratch));
  };
  const Image one = decode(JpegOptions::gray, gray), three = decode(JpegOptions::rgb, gray);
  REQUIRE(one.shape.channels == 1);
  REQUIRE(three.shape.channels == 3);
  for (std::size_t j = 0; j < three.pixels.size(); ++j) REQUIRE(three.pixels[j] == one.pixels[j / 3]);
  CHECK(decode(JpegOptions::gray, color) == plain_decode(color, true));
  CHECK(decode(JpegOptions::as_stored, gray) == one);
  CHECK(decode(JpegOptions::as_stored, color) == decode(JpegOptions::rgb, color));
  CHECK(jpeg_decoder({.color = JpegOptions::as_stored})->channels() == dynamic);
  CHECK(jpeg_decoder({.color = JpegOptions::gray})->channels() == 1);
  CHECK(jpeg_decoder()->channels() == 3);
}

TEST_CASE("the decoder says its result options") {
  CHECK(jpeg_decoder()->name() == "decode_jpeg");
  CHECK(jpeg_decoder()->describe() == "rgb, max_pixels 268435456, max_scans 64");
  CHECK(jpeg_decoder({.color = JpegOptions::gray, .max_pixels = 5, .max_scans = 6, .accept_warnings = true})
            ->describe() == "gray, max_pixels 5, max_scans 6, accept_warnings");
  CHECK_THROWS_AS(jpeg_decoder({.max_pixels = 0}), Error);
  CHECK_THROWS_AS(jpeg_decoder({.max_scans = 0}), Error);
}

TEST_CASE("an encoded image decodes to nearly itself") {
  const Image image = photo({90, 110, 3}, 1, 0);
  std::size_t sizes[2] = {0, 0};
  for (const int quality : {50, 98}) {
    const std::vector<std::byte> bytes = encode_jpeg(image.view(), {.quality = quality, .subsampling = 444});
    sizes[quality == 98] = bytes.size();
    const Image back = plain_decode(bytes);
    double squares = 0;
    for (std::size_t j = 0; j < back.pixels.size(); ++j)
      squares += (back.pixels[j] - image.pixels[j]) * (back.pixels[j] - image.pixels[j]);
    CHECK(squares / static_cast<double>(back.pixels.size()) < (quality == 98 ? 8 : 150));
  }
  CHECK(sizes[0] * 2 < sizes[1]);
  // Rows with a stride.
  const Box box{3, 4, 50, 60};
  CHECK(encode_jpeg(image.view(box)) == encode_jpeg(cut(image, box).view()));
  CHECK_THROWS_AS(encode_jpeg(photo({5, 5, 2}).view()), Error);
  CHECK_THROWS_AS(encode_jpeg(image.view(), {.quality = 0}), Error);
  CHECK_THROWS_AS(encode_jpeg(image.view(), {.subsampling = 411}), Error);
  CHECK_THROWS_AS(encode_jpeg(image.view(), {.restart_rows = -1}), Error);
}
