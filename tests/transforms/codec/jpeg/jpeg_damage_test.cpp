// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>
#include <functional>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/encode_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

Bytes decode_all(ImageDecoding& decoding, std::span<const std::byte> bytes, bool verify = true) {
  TestScratch scratch;
  const ImageShape shape = decoding.open(bytes);
  Bytes out(static_cast<std::size_t>(shape.height) * static_cast<std::size_t>(shape.width) *
            static_cast<std::size_t>(shape.channels));
  decoding.decode({0, 0, shape.height, shape.width}, verify, out.data(), scratch);
  return out;
}

void declare(Bytes& bytes, int frame, int height, int width) {
  const std::size_t at = after_marker(bytes, frame) + 3;
  bytes[at] = static_cast<std::byte>(height >> 8), bytes[at + 1] = static_cast<std::byte>(height & 255);
  bytes[at + 2] = static_cast<std::byte>(width >> 8), bytes[at + 3] = static_cast<std::byte>(width & 255);
}

constexpr int baseline = 0xc0, progressive = 0xc2;

}  // namespace

TEST_CASE("a JPEG that is cut off anywhere is an error, and the next one is not touched by it") {
  const Bytes good = encode_jpeg(photo({48, 60, 3}).view());
  for (const bool spectral : {false, true}) {
    const Bytes bytes = encode_jpeg(photo({70, 50, 3}, 1).view(), {.progressive = spectral});
    const auto decoding = jpeg_decoder()->start();
    const Bytes expected = decode_all(*decoding, good);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(size);
      const Error error = error_of([&] { decode_all(*decoding, std::span(bytes).first(size)); });
      REQUIRE(error.code() == Errc::corrupt);
      REQUIRE(error.offset().has_value());
      REQUIRE(*error.offset() <= size);
      if (size % 16 == 0) REQUIRE(decode_all(*decoding, good) == expected);
    }
    CHECK(decode_all(*decoding, good) == expected);
  }
}

TEST_CASE("changed bytes give an error or an image, never one image for another") {
  const Bytes good = encode_jpeg(photo({40, 40, 3}).view(), {.restart_rows = 1});
  const auto decoding = jpeg_decoder()->start();
  const Bytes expected = decode_all(*decoding, good);
  int errors = 0, images = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed);
    Bytes bytes = encode_jpeg(photo({40, 56, 3}, seed % 3).view(), {.progressive = seed % 2 == 1});
    for (int n = numbers.from(1, 4); n > 0; --n)
      bytes[static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(bytes.size())))] =
          static_cast<std::byte>(numbers.next());
    try {
      decode_all(*decoding, bytes);
      ++images;
    } catch (const Error& error) {
      REQUIRE(error.sample_scoped());
      REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
      ++errors;
    }
    if (seed % 20 == 0) REQUIRE(decode_all(*decoding, good) == expected);
  }
  CHECK(errors > 1000);
  CHECK(images > 50);
}

TEST_CASE("tables of an earlier image are not used for one that lacks them") {
  const auto decoding = jpeg_decoder()->start();
  const Bytes good = encode_jpeg(photo({40, 40, 3}).view(), {.quality = 20});
  for (const int table : {0xdb, 0xc4}) {
    Bytes bytes = encode_jpeg(photo({40, 40, 3}, 2).view(), {.quality = 70});
    // The tables become comments.
    for (std::size_t i = 2; std::to_integer<int>(bytes[i + 1]) != 0xda;) {
      if (std::to_integer<int>(bytes[i + 1]) == table) bytes[i + 1] = std::byte{0xfe};
      i += 2 + (std::to_integer<std::size_t>(bytes[i + 2]) << 8) + std::to_integer<std::size_t>(bytes[i + 3]);
    }
    const auto outcome = [&](ImageDecoding& with) {
      try {
        return decode_all(with, bytes);
      } catch (const Error& error) {
        Bytes text(error.cause().size());
        std::memcpy(text.data(), error.cause().data(), text.size());
        return text;
      }
    };
    const Bytes fresh = outcome(*jpeg_decoder()->start());
    decode_all(*decoding, good);
    CHECK(outcome(*decoding) == fresh);
  }
}

TEST_CASE("sizes that a header only claims are refused at once") {
  const auto decoding = jpeg_decoder()->start();
  for (const bool spectral : {false, true}) {
    Bytes bytes = encode_jpeg(photo({16, 16, 3}).view(), {.progressive = spectral});
    const auto start = std::chrono::steady_clock::now();
    declare(bytes, spectral ? progressive : baseline, 30000, 30000);
    CHECK(error_of([&] { decoding->open(bytes); }).code() == Errc::limit_exceeded);
    // Below the limit, but more than its bytes can hold.
    declare(bytes, spectral ? progressive : baseline, 16000, 16000);
    CHECK(error_of([&] { decoding->open(bytes); }).code() == Errc::corrupt);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(200));
  }
  const auto small = jpeg_decoder({.max_pixels = 40 * 50})->start();
  CHECK(small->open(encode_jpeg(photo({40, 50, 3}).view())) == ImageShape{40, 50, 3});
  CHECK(error_of([&] { small->open(encode_jpeg(photo({40, 51, 3}).view())); }).code() == Errc::limit_exceeded);
  // Coefficients take 2 bytes a sample, here padded to whole blocks: more than 3 bytes a pixel.
  CHECK(error_of([&] {
          small->open(encode_jpeg(photo({40, 50, 3}).view(), {.progressive = true}));
        }).code() == Errc::limit_exceeded);
}

TEST_CASE("scans are limited") {
  const Bytes bytes = encode_jpeg(photo({100, 100, 3}).view(), {.progressive = true});
  const auto none = jpeg_decoder({.max_scans = 9})->start(), enough = jpeg_decoder({.max_scans = 10})->start();
  CHECK(error_of([&] { decode_all(*none, bytes); }).code() == Errc::limit_exceeded);
  CHECK_NOTHROW(decode_all(*enough, bytes));
}

TEST_CASE("kinds of JPEG that are not handled are named") {
  const auto decoding = jpeg_decoder()->start();
  const Bytes good = encode_jpeg(photo({20, 20, 3}).view());
  const auto outcome = [&](const std::function<void(Bytes&)>& change) {
    Bytes bytes = good;
    change(bytes);
    const Error error = error_of([&] { decode_all(*decoding, bytes); });
    INFO(error.what());
    return error.code();
  };
  CHECK(outcome([](Bytes& b) { b[after_marker(b, baseline) + 2] = std::byte{12}; }) == Errc::unsupported);
  CHECK(outcome([](Bytes& b) { b[after_marker(b, baseline) - 1] = std::byte{0xc9}; }) == Errc::unsupported);
  CHECK(outcome([](Bytes& b) { b[after_marker(b, baseline) - 1] = std::byte{0xc3}; }) == Errc::unsupported);
  CHECK(outcome([](Bytes& b) { b[0] = std::byte{0x89}; }) == Errc::corrupt);
  CHECK(outcome([](Bytes& b) { declare(b, baseline, 0, 20); }) == Errc::corrupt);
}

TEST_CASE("a warning is an error unless it is accepted, and verify sees what a part does not") {
  Bytes bytes = encode_jpeg(photo({200, 64, 3}).view(), {.restart_rows = 1});
  // The last restart marker's number.
  std::size_t at = bytes.size() - 2;
  while (std::to_integer<int>(bytes[at]) != 0xff || (std::to_integer<int>(bytes[at + 1]) & 0xf8) != 0xd0) --at;
  bytes[at + 1] = static_cast<std::byte>(0xd0 | ((std::to_integer<int>(bytes[at + 1]) + 2) & 7));
  const auto strict = jpeg_decoder()->start(), lenient = jpeg_decoder({.accept_warnings = true})->start();
  const Error error = error_of([&] { decode_all(*strict, bytes); });
  CHECK(error.code() == Errc::corrupt);
  REQUIRE(error.offset().has_value());
  CHECK(*error.offset() >= at);
  CHECK(*error.offset() <= at + 4);
  CHECK_NOTHROW(decode_all(*lenient, bytes));
  CHECK_NOTHROW(decode_all(*lenient, std::span(bytes).first(bytes.size() / 2)));

  TestScratch scratch;
  strict->open(bytes);
  CHECK_NOTHROW(strict->decode({0, 0, 50, 20}, false, nullptr, scratch));
  strict->open(bytes);
  CHECK(error_of([&] { strict->decode({0, 0, 50, 20}, true, nullptr, scratch); }).code() == Errc::corrupt);
  // Nothing after the image but no end marker either.
  const Bytes whole = encode_jpeg(photo({20, 64, 3}).view());
  CHECK(error_of([&] { decode_all(*strict, std::span(whole).first(whole.size() - 2)); }).code() == Errc::corrupt);
}

TEST_CASE("boxes outside the image are refused") {
  const auto decoding = jpeg_decoder()->start();
  const Bytes good = encode_jpeg(photo({20, 20, 3}).view());
  for (const Box& box : {Box{0, 0, 21, 5}, Box{0, 16, 5, 5}, Box{-1, 0, 5, 5}, Box{0, 0, 0, 5}}) {
    TestScratch scratch;
    decoding->open(good);
    CHECK(error_of([&] { decoding->decode(box, false, nullptr, scratch); }).code() == Errc::invalid_argument);
  }
}
