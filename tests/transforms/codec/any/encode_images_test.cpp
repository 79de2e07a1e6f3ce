// SPDX-License-Identifier: Apache-2.0
// Encoders after decode_image, JPEGs and PNGs in one data set, and labels.
#include <cstring>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/encode_png.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/png/png_files.hpp"

namespace PENSTOCK_TEST_FILE {

namespace ps = penstock;
using namespace penstock_test;

namespace {

// JPEGs and PNGs by turns.
std::vector<Bytes> mixed() {
  std::vector<Bytes> files;
  for (int i = 0; i < 6; ++i) {
    const ps::ImageShape shape{30 + i, 40 - i, i % 3 == 0 ? 1 : 3};
    files.push_back(ps::encode_jpeg(photo(shape, static_cast<std::uint64_t>(i)).view()));
    files.push_back(ps::encode_png(photo(shape, static_cast<std::uint64_t>(i)).view()));
  }
  return files;
}

Bytes field_of(const ps::OwnedSample& sample, std::string_view field = "image") {
  return Bytes(sample[field].data, sample[field].data + sample[field].bytes());
}

}  // namespace

TEST_CASE("of images that decode_image made, those that are JPEGs are kept") {
  const std::vector<Bytes> files = mixed();
  const ps::Pipeline decode = ps::from(Encoded{files}) | ps::decode_image(),
                     kept = decode | ps::encode_jpeg("image", {.keep_stored = true}), made = decode | ps::encode_jpeg();
  for (std::size_t i = 0; i < files.size(); ++i) {
    CAPTURE(i);
    CHECK((field_of(kept.at(i)) == files[i]) == (i % 2 == 0));
    if (i % 2 == 1) CHECK(field_of(kept.at(i)) == field_of(made.at(i)));
  }
  const ps::Pipeline wide = ps::from(Encoded{files}) | ps::decode_image("image", {.dtype = ps::DType::u16});
  CHECK(code_of([&] { wide | ps::encode_jpeg("image", {.keep_stored = true}); }) == ps::Errc::schema_mismatch);
  const ps::Pipeline again = wide | ps::encode_png() | ps::decode_image("image", {.dtype = ps::DType::u16});
  for (std::size_t i = 0; i < files.size(); ++i) CHECK(field_of(again.at(i)) == field_of(wide.at(i)));
}

TEST_CASE("a JPEG is not handed on for values of 16 bits") {
  const Bytes file = ps::encode_jpeg(photo({20, 30, 3}).view());
  TestScratch scratch;
  for (const ps::DType dtype : {ps::DType::u8, ps::DType::u16}) {
    const auto decoding = ps::any_image_decoder({.dtype = dtype})->start();
    CHECK(decoding->stored_jpeg(scratch).empty());
    decoding->open(file);
    CHECK(decoding->stored_jpeg(scratch).empty() == (dtype == ps::DType::u16));
    decoding->open(ps::encode_png(photo({20, 30, 3}).view()));
    CHECK(decoding->stored_jpeg(scratch).empty());
  }
}

TEST_CASE("labels become PNGs, and no JPEGs") {
  const PngFile mask({.color = 3, .depth = 8}, {30, 40}, 5);
  for (const ps::Pipeline& p :
       {ps::from(Encoded{{mask.bytes()}}) | ps::decode_image("image", {.color = ps::DecodeImageOptions::labels}),
        ps::from(Encoded{{mask.bytes()}}) | ps::decode_png("image", {.color = ps::PngOptions::labels})}) {
    const ps::Error error = error_of([&] { p | ps::encode_jpeg(); });
    CHECK(error.code() == ps::Errc::invalid_argument);
    CHECK(error.stage() == "encode_jpeg(image)");
    CHECK(mentions(error, "decoded as labels, which encode_jpeg would change; encode them as PNG"));
    const ps::Pipeline png = p | ps::flip_horizontal(ps::mask("image")) | ps::encode_png("image", {.out = "file"}) |
                             ps::decode_png("file", {.color = ps::PngOptions::labels});
    const ps::OwnedSample sample = png.at(0);
    CHECK(field_of(sample, "file") == field_of(sample));
  }
}

}  // namespace PENSTOCK_TEST_FILE
