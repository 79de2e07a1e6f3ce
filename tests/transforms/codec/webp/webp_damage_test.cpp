// SPDX-License-Identifier: Apache-2.0
// Damaged and hostile WebPs. WebP has no check sums: damage is an error or changes pixels, and it reads no other
// memory.
#include <chrono>
#include <cstdlib>
#include <optional>

#include <webp/decode.h>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_webp.hpp>

#include "support/campaign.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/webp/webp_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

Image decode(ImageDecoding& decoding, std::span<const std::byte> bytes) {
  TestScratch scratch;
  Image image(decoding.open(bytes));
  decoding.decode({0, 0, image.shape.height, image.shape.width}, false,
                  reinterpret_cast<std::byte*>(image.pixels.data()), scratch);
  return image;
}

void put_little_endian(Bytes& bytes, std::size_t at, std::size_t value) {
  for (unsigned i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

// A file that ends earlier, and declares it.
Bytes shortened(Bytes bytes, std::size_t size) {
  bytes.resize(size);
  if (size >= 8) put_little_endian(bytes, 4, size - 8);
  return bytes;
}

}  // namespace

TEST_CASE("a WebP that is cut off anywhere is an error, and the next one is not touched by it") {
  const Bytes good = webp_file({9, 12}, {.alpha = true}, 1);
  const auto decoding = webp_decoder({.color = WebpOptions::rgba})->start();
  for (const WebpKind& kind : webp_kinds()) {
    const Bytes bytes = webp_file({20, 21}, kind, 2);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(kind.lossless, kind.alpha, kind.extended, size);
      const Error error = error_of([&] { decode(*decoding, std::span(bytes).first(size)); });
      REQUIRE(error.code() == Errc::corrupt);
      REQUIRE(error.offset() == size);
    }
    CHECK(decode(*decoding, good) == plainly_decoded(good, WebpOptions::rgba));
  }
}

TEST_CASE("a WebP that is cut off and declares it is an error if a chunk or the image is not all there") {
  const auto decoding = webp_decoder({.color = WebpOptions::rgba})->start();
  for (const WebpKind& kind : webp_kinds()) {
    const Bytes bytes = webp_file({20, 21}, kind, 2);
    // All but the extended kinds have the image's chunk, and perhaps its padding, at the end.
    if (kind.extended) continue;
    for (std::size_t size = 0; size + 1 < bytes.size(); ++size) {
      CAPTURE(kind.lossless, kind.alpha, size);
      REQUIRE(code_of([&] { decode(*decoding, shortened(bytes, size)); }) == Errc::corrupt);
    }
  }
}

TEST_CASE("bytes after the declared end of a WebP are ignored") {
  const auto decoding = webp_decoder()->start();
  for (const WebpKind& kind : webp_kinds()) {
    Bytes bytes = webp_file({20, 21}, kind, 2);
    const Image expected = plainly_decoded(bytes, WebpOptions::rgb);
    for (const int more : {1, 7, 8, 100}) {
      bytes.insert(bytes.end(), static_cast<std::size_t>(more), std::byte{0xff});
      REQUIRE(decode(*decoding, bytes) == expected);
    }
  }
}

TEST_CASE("damage below a part is found by a verified decode alone") {
  const auto decoding = webp_decoder()->start();
  for (const bool lossless : {false, true}) {
    const Bytes whole = webp_file({200, 64}, {.lossless = lossless}, 3);
    WebpChunks chunks = chunks_of(whole);
    REQUIRE(chunks.size() == 1);
    // The last quarter of the compressed pixels is missing. A lossy image has a partition of predictions before that of
    // its pixels, which is cut here.
    chunks[0].second.resize(chunks[0].second.size() * 3 / 4);
    const Bytes cut_off = file_of(chunks);
    const Box top{0, 0, 20, 64};
    TestScratch scratch;
    decoding->open(cut_off);
    CHECK(copied(decoding->decode(top, false, nullptr, scratch)) == cut(plainly_decoded(whole, WebpOptions::rgb), top));
    CHECK(code_of([&] { decoding->decode(top, true, nullptr, scratch); }) == Errc::corrupt);
    CHECK(code_of([&] { decoding->decode({0, 0, 200, 64}, false, nullptr, scratch); }) == Errc::corrupt);
  }
}

// PENSTOCK_RUNS times as many, from PENSTOCK_SEED: tests/campaigns/webp.
TEST_CASE("changed WebPs are an error, or an image of the declared size") {
  const Bytes good = webp_file({9, 12}, {.alpha = true}, 1);
  int errors = 0, images = 0;
  const std::uint64_t first = numbered_seed(1), files = runs(4000);
  const auto decoding = webp_decoder({.color = WebpOptions::rgba, .max_pixels = 1 << 20})->start();
  for (std::uint64_t file = 0; file < files; ++file) {
    const std::uint64_t seed = first + file;
    CAPTURE(seed);
    Numbers numbers(seed);
    Bytes bytes = webp_file({numbers.from(1, 70), numbers.from(1, 70)}, webp_kinds()[seed % webp_kinds().size()], seed);
    for (int n = numbers.from(1, 4); n > 0; --n) {
      // Half of the changes are in headers.
      const auto end =
          static_cast<std::int32_t>(numbers.coin() ? std::min<std::size_t>(60, bytes.size()) : bytes.size());
      bytes[static_cast<std::size_t>(numbers.below(end))] = static_cast<std::byte>(numbers.next());
    }
    if (numbers.below(4) == 0)
      bytes = shortened(bytes, static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(bytes.size()))));
    std::optional<Image> whole;
    try {
      whole = decode(*decoding, bytes);
      ++images;
    } catch (const Error& error) {
      REQUIRE(error.sample_scoped());
      REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
      ++errors;
    }
    try {
      const ImageShape shape = decoding->open(bytes);
      Box box{0, 0, numbers.from(1, shape.height), numbers.from(1, shape.width)};
      box.top = numbers.from(0, shape.height - box.height), box.left = numbers.from(0, shape.width - box.width);
      TestScratch scratch;
      const Image part = copied(decoding->decode(box, numbers.coin(), nullptr, scratch));
      // A part may be above the damage.
      if (whole) REQUIRE(part == cut(*whole, box));
    } catch (const Error& error) {
      REQUIRE(error.sample_scoped());
      REQUIRE_FALSE(whole);
    }
    if (file % 50 == 0) REQUIRE(decode(*decoding, good) == plainly_decoded(good, WebpOptions::rgba));
  }
  CHECK(errors > static_cast<int>(files / 4));
  CHECK(images > static_cast<int>(files / 10));
}

TEST_CASE("what is not a still WebP is refused by name") {
  const auto decoding = webp_decoder()->start();
  const auto refused = [&](const Bytes& bytes) { return error_of([&] { decode(*decoding, bytes); }); };
  const Bytes good = webp_file({20, 21}, {}, 2);
  Bytes bytes = good;
  bytes[1] = std::byte{'X'};
  CHECK(refused(bytes).code() == Errc::corrupt);
  CHECK(refused(bytes).offset() == 0u);
  bytes = good;
  put_little_endian(bytes, 4, 8);
  CHECK(mentions(refused(bytes), "declares only 16 bytes"));
  // A chunk beyond the end, of the image or after it.
  bytes = good;
  put_little_endian(bytes, 16, bytes.size());
  CHECK(refused(bytes).code() == Errc::corrupt);
  CHECK(refused(bytes).offset() == 16u);
  bytes = extended(good, {}, 0);
  bytes.resize(bytes.size() - 4);
  put_little_endian(bytes, 4, bytes.size() - 8);
  CHECK(mentions(refused(bytes), "a chunk of the WebP declares 17 bytes, but only"));
  // No image.
  CHECK(mentions(refused(file_of({{"EXIF", Bytes(40)}})), "no valid header"));
  // A canvas of another size.
  bytes = extended(good, {}, 0);
  bytes[24] = std::byte{77};
  CHECK(refused(bytes).code() == Errc::corrupt);
  const Error moving = refused(extended(good, {}, 0x02));
  CHECK(moving.code() == Errc::unsupported);
  CHECK(mentions(moving, "the WebP is an animation, and only still images are decoded"));
}

TEST_CASE("sizes that a WebP only claims are refused at once") {
  const auto start = std::chrono::steady_clock::now();
  const auto declared = [](std::size_t width, std::size_t height, const WebpOptions& options) {
    Bytes bytes = webp_file({16, 16}, {}, 1);
    // The sizes of a frame of VP8 are behind its chunk's header, its tag and its start code.
    for (std::size_t i = 0; i < 2; ++i) {
      bytes[26 + i] = static_cast<std::byte>(width >> (8 * i));
      bytes[28 + i] = static_cast<std::byte>(height >> (8 * i));
    }
    return error_of([&] { webp_decoder(options)->start()->open(bytes); });
  };
  const Error large = declared(16383, 16383, {.max_pixels = 1 << 27});
  CHECK(large.code() == Errc::limit_exceeded);
  CHECK(mentions(large, "16383x16383 pixels, above max_pixels = 134217728"));
  // Below the limit, but more than its bytes can hold.
  const Error empty = declared(16383, 16383, {});
  CHECK(empty.code() == Errc::corrupt);
  CHECK(mentions(empty, "which can't be in its"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(200));
  const auto small = webp_decoder({.max_pixels = 40 * 50})->start();
  CHECK(small->open(webp_file({40, 50}, {}, 1)) == ImageShape{40, 50, 3});
  CHECK(code_of([&] { small->open(webp_file({40, 51}, {}, 1)); }) == Errc::limit_exceeded);
}

TEST_CASE("large lossy images of one colour are not taken for claims") {
  for (const int value : {0, 128, 255}) {
    Image pixels({1024, 2048, 3});
    pixels.pixels.assign(pixels.pixels.size(), static_cast<std::uint8_t>(value));
    const Bytes bytes = webp_file(pixels, {});
    CHECK(decode(*webp_decoder()->start(), bytes) == plainly_decoded(bytes, WebpOptions::rgb));
  }
}

}  // namespace PENSTOCK_TEST_FILE
