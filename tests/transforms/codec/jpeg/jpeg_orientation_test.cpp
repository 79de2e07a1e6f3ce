// SPDX-License-Identifier: Apache-2.0
// Exif's orientation.
#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/image.hpp>
#include <penstock/transforms/seekable_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/followed.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// What stands at the top left of a stored image, and what to its right, is told by the Exif standard in words.
Image upright(const Image& stored, int orientation) {
  const std::int32_t h = stored.shape.height, w = stored.shape.width;
  const bool turned = orientation >= 5;
  Image out({turned ? w : h, turned ? h : w, stored.shape.channels});
  for (std::int32_t y = 0; y < h; ++y) {
    for (std::int32_t x = 0; x < w; ++x) {
      // Row 0 of the file is the visual top, top, bottom, bottom, left, right, right, left;
      // column 0 the left, right, right, left, top, top, bottom, bottom.
      std::int32_t to_y = y, to_x = x;
      switch (orientation) {
        case 2:
          to_x = w - 1 - x;
          break;
        case 3:
          to_y = h - 1 - y, to_x = w - 1 - x;
          break;
        case 4:
          to_y = h - 1 - y;
          break;
        case 5:
          to_y = x, to_x = y;
          break;
        case 6:
          to_y = x, to_x = h - 1 - y;
          break;
        case 7:
          to_y = w - 1 - x, to_x = h - 1 - y;
          break;
        case 8:
          to_y = w - 1 - x, to_x = y;
          break;
        default:
          break;
      }
      for (std::int32_t c = 0; c < stored.shape.channels; ++c) out.at(to_y, to_x, c) = stored.at(y, x, c);
    }
  }
  return out;
}

Bytes with_exif(const Bytes& bytes, const std::string& text) { return with_inserted(bytes, 2, text); }

}  // namespace

TEST_CASE("boxes, points and masks turn with a JPEG that is set upright") {
  const Bytes plain = plain_encode(photo({45, 70, 3}, 3, 20), {});
  const ImageFields all{"image", boxes("boxes"), points("points"), instance_masks("masks")};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Followed file{with_exif(plain, exif_segment(orientation, false)), 45, 70};
    check_followers(file, decode_jpeg(), decode_jpeg(all, {.apply_orientation = true}), orientation);
    check_followers(file, decode_jpeg(), decode_jpeg(all), 1);
  }
  const Followed file{plain, 45, 70};
  CHECK(error_of([&] { (void)(from(file) | decode_jpeg(all, {.scale = JpegOptions::Scale::half})); }).cause() ==
        "boxes and other fields that follow a decoder are of the whole image (decoded at 1/2 of the size): leave the "
        "scale out, or say `fit`");
  CHECK_NOTHROW(from(file) | decode_jpeg(all, {.scale = JpegOptions::Scale::fit}));
}

TEST_CASE("an image is set upright as its Exif data says, where that is asked for") {
  const ImageShape shape{45, 70, 3};
  const Bytes plain = plain_encode(photo(shape, 3, 20), {}), restarts = seekable_jpeg(plain, {.every = 1});
  const Image stored = plain_decode(plain);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Image wanted = upright(stored, orientation);
    for (const Bytes& file : {plain, restarts}) {
      const Bytes bytes = with_exif(file, exif_segment(orientation, orientation % 2 == 0));
      CAPTURE(orientation);
      CHECK(decoded(bytes) == stored);
      CHECK(decoded(bytes, {.apply_orientation = true}) == wanted);
      CHECK(jpeg_orientation(bytes) == orientation);
      const auto decoding = jpeg_decoder({.apply_orientation = true})->start();
      Numbers numbers(1);
      for (int n = 0; n < 60; ++n) {
        const Box box = random_box(numbers, wanted.shape);
        CAPTURE(box.top, box.left, box.height, box.width);
        TestScratch scratch;
        REQUIRE(decoding->open(bytes) == wanted.shape);
        REQUIRE(copied(decoding->decode(box, n % 4 == 0, nullptr, scratch)) == cut(wanted, box));
      }
      Image into(wanted.shape);
      TestScratch scratch;
      const Pixels pixels = decoding->decode({0, 0, wanted.shape.height, wanted.shape.width}, false,
                                             reinterpret_cast<std::byte*>(into.pixels.data()), scratch);
      CHECK(pixels.data == into.pixels.data());
      CHECK(into == wanted);
      CHECK_THROWS_AS(decoding->decode({0, 0, wanted.shape.height + 1, 1}, false, nullptr, scratch), Error);
    }
  }
}

TEST_CASE("an orientation may be a number of 32 bits") {
  const Bytes plain = plain_encode(photo({20, 30, 3}), {});
  constexpr std::size_t entry = 4 + 6 + 8 + 2 + 12;  // after the segment's head, "Exif", the header, an entry
  std::string little = exif_segment(6, false), big = exif_segment(6, true);
  little[entry + 2] = 4;
  big[entry + 3] = 4, big[entry + 9] = 0, big[entry + 11] = 6;
  for (const std::string& text : {little, big})
    CHECK(decoded(with_exif(plain, text), {.apply_orientation = true}) == upright(plain_decode(plain), 6));
}

TEST_CASE("Exif data that makes no sense leaves an image as it is stored") {
  using namespace std::string_literals;
  const Bytes plain = plain_encode(photo({20, 30, 3}), {});
  const Image stored = plain_decode(plain);
  const std::string good = exif_segment(6, false);
  std::vector<std::string> bad = {exif_segment(0, false),          exif_segment(9, true),
                                  exif_segment(200, false),        ""s,
                                  "\xff\xe1\0\x08"s + "Exif\0\0"s, "\xff\xe1\0\x08"s + "Exif\0I"s};
  // Cut off anywhere, and each byte changed: no crash, an image or an error.
  for (std::size_t i = 10; i < good.size(); ++i) {
    std::string cut_off = good.substr(0, i);
    cut_off[3] = static_cast<char>(i - 2);
    if (i < 42) bad.push_back(cut_off);
  }
  for (const std::string& text : bad) {
    CAPTURE(text.size());
    CHECK(decoded(with_exif(plain, text), {.apply_orientation = true}) == stored);
    CHECK(jpeg_orientation(with_exif(plain, text)) == 1);
  }
  for (std::size_t i = 4; i < good.size(); ++i) {
    for (const int change : {1, 0x80, 0xff}) {
      std::string text = good;
      text[i] = static_cast<char>(text[i] ^ change);
      CHECK_NOTHROW(decoded(with_exif(plain, text), {.apply_orientation = true}));
    }
  }
  // The first of several orientations counts.
  CHECK(decoded(with_exif(with_exif(plain, good), exif_segment(1, true)), {.apply_orientation = true}) == stored);
}

TEST_CASE("a chain on images that are set upright gives the same bits folded or not") {
  Encoded source;
  for (int n = 0; n < 16; ++n) {
    const Bytes plain = plain_encode(photo({70 + n, 95 - n, n % 5 == 0 ? 1 : 3}, static_cast<std::uint64_t>(n)), {});
    source.files.push_back(
        with_exif(n % 2 == 0 ? plain : seekable_jpeg(plain, {.every = 2}), exif_segment(1 + n % 8, n % 3 == 0)));
  }
  const Pipeline start = from(source) | decode_jpeg("image", {.apply_orientation = true});
  const auto chains = {start | random_resized_crop("image", {40, 30}) | random_flip("image"),
                       start | resize_short("image", 60) | center_crop("image", {50, 50}) | normalize("image"),
                       start | random_crop("image", {40, 44}) | random_rot90("image") | resize("image", {20, 20})};
  for (const Pipeline& chain : chains) {
    const Bytes folded = all_bytes(chain | batch(4));
    for (const bool verify : {false, true})
      for (const bool fold : {false, true})
        CHECK(all_bytes(chain | check({.verify = verify, .fold = fold}) | batch(4)) == folded);
  }
  const auto fingerprint = [](const Pipeline& p) { return (p | resize("image", {8, 8}) | batch(1)).fingerprint(); };
  CHECK(fingerprint(start) != fingerprint(from(source) | decode_jpeg()));
}
