// SPDX-License-Identifier: Apache-2.0
// decode_image takes TIFF, as decode_tiff decodes it.
#include <cstring>

#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_tiff.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/followed.hpp"
#include "transforms/codec/png/png_files.hpp"
#include "transforms/codec/tiff/tiff_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

Image decoded(const Bytes& file, const DecodeImageOptions& options) {
  const auto decoding = any_image_decoder(options)->start();
  TestScratch scratch;
  Image image(decoding->open(file));
  decoding->decode({0, 0, image.shape.height, image.shape.width}, false,
                   reinterpret_cast<std::byte*>(image.pixels.data()), scratch);
  return image;
}

}  // namespace

TEST_CASE("decode_image decodes each TIFF as decode_tiff does") {
  const std::pair<DecodeImageOptions::Color, TiffOptions::Color> colors[] = {
      {DecodeImageOptions::rgb, TiffOptions::rgb},
      {DecodeImageOptions::gray, TiffOptions::gray},
      {DecodeImageOptions::as_stored, TiffOptions::as_stored},
      {DecodeImageOptions::labels, TiffOptions::labels}};
  std::uint64_t seed = 0;
  for (const TiffKind& kind : tiff_kinds()) {
    const TiffFile file(kind, {31, 22}, ++seed);
    const Bytes bytes = file.bytes();
    for (const auto& [color, tiff_color] : colors) {
      if (color == DecodeImageOptions::labels && (kind.photometric == PHOTOMETRIC_RGB || kind.extra >= 0)) continue;
      CHECK(decoded(bytes, {.color = color, .dtype = DType::u16}) == file.expected(tiff_color, DType::u16));
      if (kind.bits < 16) CHECK(decoded(bytes, {.color = color, .high_byte = true}) == file.expected(tiff_color));
    }
  }
}

TEST_CASE("boxes, points and masks turn with a TIFF that decode_image sets upright") {
  const ImageFields all{"image", boxes("boxes"), points("points"), instance_masks("masks")};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const TiffFile tiff({.orientation = orientation}, {23, 40}, 1);
    check_followers({tiff.bytes(), 23, 40}, decode_image(), decode_image(all, {.apply_orientation = true}),
                    orientation);
  }
  check_followers({TiffFile({}, {23, 40}, 1).bytes(), 23, 40}, decode_image(), decode_image(all), 1);
}

TEST_CASE("options of decode_image reach TIFF") {
  const TiffFile file({.orientation = 6}, {40, 50}, 1), other({}, {5, 6}, 2);
  const Bytes bytes = file.bytes();
  CHECK(decoded(bytes, {.apply_orientation = true}) == upright(file.expected(TiffOptions::rgb), 6));
  CHECK(code_of([&] { decoded(bytes, {.max_pixels = 1999}); }) == Errc::limit_exceeded);
  CHECK(code_of([&] { decoded(TiffFile({.bits = 16}, {5, 6}, 1).bytes(), {}); }) == Errc::unsupported);
  const Bytes pages = written("wl", [&](::TIFF* tiff) { file.write(tiff), other.write(tiff); });
  CHECK(mentions(error_of([&] { decoded(pages, {}); }), "the TIFF has 2 pages"));
  CHECK(decoded(pages, {.page = 1}) == other.expected(TiffOptions::rgb));
  const auto described = [](const DecodeImageOptions& options) { return any_image_decoder(options)->describe(); };
  CHECK(described({}) == "rgb, max_pixels 268435456, max_scans 64");
  CHECK(described({.page = 3}) == "rgb, max_pixels 268435456, max_scans 64, page 3");
}

TEST_CASE("PNG and TIFF go through one stage by turns") {
  Encoded source;
  const std::vector<TiffKind> kinds = tiff_kinds();
  for (std::uint64_t i = 0; i < 10; ++i) {
    source.files.push_back(TiffFile(kinds[i * 7], {50, 60}, i).bytes());
    source.files.push_back(PngFile({2, 8}, {50, 60}, i).bytes());
  }
  const Pipeline chain = from(source) | decode_image("image", {.high_byte = true}) | random_crop("image", {24, 28});
  const Bytes folded = all_bytes(chain | batch(4));
  CHECK(folded.size() == 20 * 24 * 28 * 3);
  CHECK(all_bytes(chain | check({.verify = true, .fold = false}) | batch(4)) == folded);
}

}  // namespace PENSTOCK_TEST_FILE
