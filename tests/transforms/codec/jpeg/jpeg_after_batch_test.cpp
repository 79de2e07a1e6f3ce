// SPDX-License-Identifier: Apache-2.0
// decode_jpeg after batch: on the host its bits are those it has before it, and which images a GPU is given.
#include <penstock/device.hpp>
#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/stages/on_error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

Image some(std::int32_t height, std::int32_t width, std::uint64_t seed, std::int32_t channels = 3) {
  return photo({height, width, channels}, seed);
}

bool goes_to_engines(const Bytes& file, const JpegOptions& options = {}) {
  const auto decoding = jpeg_decoder(options)->start();
  static_cast<void>(decoding->open(file));
  return decoding->for_batches();
}

}  // namespace

TEST_CASE("JPEGs are decoded after batch to the bits they have before it") {
  Encoded files;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Image image =
        some(static_cast<std::int32_t>(20 + i * 7), static_cast<std::int32_t>(90 - i * 3), i, i % 5 == 3 ? 1 : 3);
    files.files.push_back(plain_encode(image, {.progressive = i % 3 == 1}));
  }
  files.files[7].resize(files.files[7].size() / 2);
  const Pipeline source = from(files) | shuffle({.seed = 2}) | on_error({.policy = OnError::mask});
  const auto cut = [](const Pipeline& p) { return p | random_resized_crop("image", {24, 30}) | random_flip("image"); };
  const auto before =
      all_bytes(cut(source | decode_jpeg("image", {.decoder = JpegOptions::Decoder::libjpeg})) | batch(6));
  CHECK(all_bytes(cut(source | ragged("image") | batch(6) | decode_jpeg("image"))) == before);
  CHECK(all_bytes(cut(source | ragged("image") | batch(6) | decode_jpeg("image", {.host_share = 0.5}))) == before);
}

TEST_CASE("engines of a GPU get whole baseline images of kinds that they know") {
  const Image image = some(40, 56, 1);
  for (const std::array<int, 2> luma : {std::array{1, 1}, std::array{2, 1}, std::array{2, 2}}) {
    CHECK(goes_to_engines(plain_encode(image, {.luma = luma})));
    CHECK_FALSE(goes_to_engines(plain_encode(image, {.luma = luma, .progressive = true})));
    CHECK_FALSE(goes_to_engines(plain_encode(image, {.luma = luma, .one_scan_each = true})));
  }
  CHECK(goes_to_engines(plain_encode(image, {.restart_interval = 2})));
  CHECK(goes_to_engines(plain_encode(some(40, 56, 1, 1), {.luma = {1, 1}})));
  CHECK_FALSE(goes_to_engines(plain_encode(some(40, 56, 1, 1), {.luma = {2, 2}})));
  CHECK(goes_to_engines(plain_encode(some(1, 5, 1), {})));
  // Where libjpeg interpolates no chroma.
  for (const std::int32_t width : {1, 4, 5}) {
    CHECK(goes_to_engines(plain_encode(some(40, width, 1), {.luma = {2, 2}})) == (width > 4));
    CHECK(goes_to_engines(plain_encode(some(40, width, 1), {.luma = {2, 1}})) == (width > 4));
    CHECK(goes_to_engines(plain_encode(some(40, width, 1), {.luma = {1, 1}})));
  }
  CHECK_FALSE(goes_to_engines(plain_encode(image, {.luma = {1, 2}})));
  CHECK_FALSE(goes_to_engines(plain_encode(image, {.luma = {4, 1}})));
  CHECK_FALSE(goes_to_engines(plain_encode(image, {.luma = {2, 2}, .chroma = {2, 1}})));
  CHECK_FALSE(goes_to_engines(plain_encode(image, {.colors = PlainJpeg::rgb, .jfif = false, .adobe = true})));
  CHECK_FALSE(
      goes_to_engines(plain_encode(some(40, 56, 1, 4), {.colors = PlainJpeg::cmyk, .jfif = false, .adobe = true})));
  // What lacks a table, or is of another kind than its tables and factors suggest.
  for (const int code : {0xc4, 0xdb}) {
    Bytes bare = plain_encode(image, {});
    const std::size_t at = segment(bare, code);
    const std::size_t length =
        std::to_integer<std::size_t>(bare[at + 2]) << 8 | std::to_integer<std::size_t>(bare[at + 3]);
    bare.erase(bare.begin() + static_cast<std::ptrdiff_t>(at),
               bare.begin() + static_cast<std::ptrdiff_t>(at + 2 + length));
    try {
      CHECK_FALSE(goes_to_engines(bare));
    } catch (const Error& error) {
      CHECK(error.code() == Errc::corrupt);
    }
  }
  Bytes extended = plain_encode(image, {});
  extended[segment(extended, 0xc0) + 1] = std::byte{0xc1};
  CHECK_FALSE(goes_to_engines(extended));
  // A marker that libjpeg leaves out.
  Bytes lines = plain_encode(image, {.restart_interval = 2});
  lines[segment(lines, 0xdd) + 1] = std::byte{0xdc};
  CHECK_FALSE(goes_to_engines(lines));
  CHECK(goes_to_engines(plain_encode(image, {.markers = {{0xfe, "a comment"}, {0xef, "the last application's"}}})));
  Bytes file = plain_encode(image, {});
  CHECK_FALSE(goes_to_engines(file, {.color = JpegOptions::gray}));
  file.pop_back();
  CHECK_FALSE(goes_to_engines(file));
  CHECK_FALSE(goes_to_engines(plain_encode(some(1, 8193, 1), {})));
  CHECK(goes_to_engines(plain_encode(some(1, 8192, 1), {})));
  Bytes turned = with_inserted(plain_encode(image, {}), 2,
                               std::string("\xff\xe1\x00\x22"
                                           "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0",
                                           36));
  CHECK(goes_to_engines(turned));
  CHECK_FALSE(goes_to_engines(turned, {.apply_orientation = true}));
}

TEST_CASE("where a GPU has no engines for JPEGs a loader says so or its threads decode") {
  if (best_device() != host()) PENSTOCK_SKIP("there is a GPU");
  CHECK(jpeg_decoder()->start_batches(host()) == nullptr);
  const Error error = error_of([] { static_cast<void>(jpeg_decoder()->start_batches(gpu(0))); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(mentions(error, "put decode_jpeg before batch"));
  CHECK(jpeg_decoder({.without_engine = JpegOptions::WithoutEngine::host})->start_batches(gpu(0)) == nullptr);
  CHECK(jpeg_decoder({.host_share = 1})->start_batches(gpu(0)) == nullptr);
  CHECK(jpeg_decoder({.color = JpegOptions::gray})->start_batches(gpu(0)) == nullptr);
  CHECK(code_of([] { jpeg_decoder({.host_share = 1.5}); }) == Errc::invalid_argument);
  CHECK(code_of([] { jpeg_decoder({.host_share = -0.1}); }) == Errc::invalid_argument);
}
