// SPDX-License-Identifier: Apache-2.0
// What libjpeg warns of: an error where a pixel may depend on it, and only there.
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/seekable_jpeg.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

using namespace penstock;
using namespace penstock_test;
using namespace std::string_literals;

namespace {

constexpr int app0 = 0xe0, dqt = 0xdb, dht = 0xc4, sof = 0xc0, sos = 0xda, adobe = 0xee;

bool is_corrupt(const Bytes& bytes, const JpegOptions& options = {}) {
  return error_of([&] { decoded(bytes, options); }).code() == Errc::corrupt;
}

// An image whose second scan has its Huffman tables in the header, at the place that comes with it.
std::pair<Bytes, std::vector<std::size_t>> with_tables_up_front(const Image& image) {
  const Bytes scans = plain_encode(image, {.optimized = true, .one_scan_each = true});
  const auto is_marker = [&](std::size_t i) {
    return scans[i] == std::byte{0xff} && scans[i + 1] != std::byte{0} && scans[i + 1] != std::byte{0xff};
  };
  std::size_t begin = segment(scans, sos) + 2;
  while (!is_marker(begin)) ++begin;
  std::size_t end = begin;
  std::vector<std::size_t> places;
  while (scans[end + 1] == std::byte{dht}) {
    places.push_back(segment(scans, sos) + end - begin);
    end += 2 + (std::to_integer<std::size_t>(scans[end + 2]) << 8 | std::to_integer<std::size_t>(scans[end + 3]));
  }
  const std::string tables(reinterpret_cast<const char*>(scans.data()) + begin, end - begin);
  Bytes bytes = scans;
  bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.begin() + static_cast<std::ptrdiff_t>(end));
  return {with_inserted(bytes, segment(scans, sos), tables), places};
}

}  // namespace

TEST_CASE("stray bytes between the segments of a header are no error") {
  const Bytes good = plain_encode(photo({60, 50, 3}), {});
  const Image wanted = plain_decode(good);
  for (const int code : {app0, dqt, dht, sof, sos}) {
    for (const std::string& stray : {"\0"s, "\0\0\0\0"s, std::string(300, 'x'), "\xff\0"s, "\0\xff\xff"s}) {
      const Bytes bytes = with_inserted(good, segment(good, code), stray);
      CAPTURE(code, stray.size());
      for (const bool verify : {false, true}) CHECK(decoded(bytes, {}, verify) == wanted);
      // A part of it, and what is made of it for parts.
      TestScratch scratch;
      const auto decoding = jpeg_decoder()->start();
      decoding->open(bytes);
      CHECK(copied(decoding->decode({40, 7, 9, 11}, false, nullptr, scratch)) == cut(wanted, {40, 7, 9, 11}));
      CHECK(decoded(seekable_jpeg(bytes)) == wanted);
    }
  }
  // So with restart markers, where parts are cut out.
  const Bytes seekable = seekable_jpeg(good, {.every = 1});
  const Bytes bytes = with_inserted(seekable, segment(seekable, dqt), "abc");
  TestScratch scratch;
  const auto decoding = jpeg_decoder()->start();
  decoding->open(bytes);
  CHECK(copied(decoding->decode({40, 7, 9, 11}, false, nullptr, scratch)) == cut(wanted, {40, 7, 9, 11}));
}

TEST_CASE("other warnings that cost no pixel are no error") {
  const Bytes good = plain_encode(photo({60, 50, 3}), {});
  const Image wanted = plain_decode(good);
  Bytes version = good;
  version[segment(good, app0) + 9] = std::byte{3};  // JFIF 3.01
  CHECK(decoded(version) == wanted);
  // Parameters that a baseline scan has no use for.
  Bytes zeros = good;
  const std::size_t parameters = segment(good, sos) + 4 + 1 + 2 * 3;
  REQUIRE(zeros[parameters + 1] == std::byte{63});
  zeros[parameters + 1] = std::byte{0};
  CHECK(decoded(zeros) == wanted);
  zeros[parameters + 1] = std::byte{20};
  CHECK(is_corrupt(zeros));
  zeros[parameters + 1] = std::byte{0}, zeros[parameters + 2] = std::byte{1};
  CHECK(is_corrupt(zeros));
}

TEST_CASE("tables that a scan names and that there can't be are an error") {
  const Bytes good = plain_encode(photo({60, 50, 3}), {});
  const std::size_t component = segment(good, sos) + 4 + 1;
  for (int number = 2; number < 16; ++number) {
    CAPTURE(number);
    for (const int shift : {0, 4}) {  // of AC, of DC
      Bytes bytes = good;
      bytes[component + 1] = static_cast<std::byte>(number << shift);
      CHECK(is_corrupt(bytes));
      CHECK(is_corrupt(with_inserted(bytes, segment(bytes, sof), "abc")));
    }
  }
}

TEST_CASE("stray bytes that may be a damaged segment of a header are an error") {
  const Bytes good = plain_encode(photo({60, 50, 3}), {});
  // Without its tables, or what its colours mean.
  for (const int code : {dht, dqt, app0}) {
    Bytes bytes = good;
    bytes[segment(good, code)] = std::byte{0};
    CAPTURE(code);
    CHECK(is_corrupt(bytes));
    bytes = good;
    bytes[segment(good, code) + 1] = std::byte{0};
    CHECK(is_corrupt(bytes));
  }
  const Bytes colors = plain_encode(photo({60, 50, 3}), {.colors = PlainJpeg::rgb, .jfif = false, .adobe = true});
  CHECK(decoded(colors) == plain_decode(colors));
  for (const std::size_t byte : {0u, 1u}) {
    Bytes bytes = colors;
    bytes[segment(colors, adobe) + byte] = std::byte{0};
    CHECK(is_corrupt(bytes));
  }
  // One whose length is damaged ends before it says so.
  for (const unsigned length : {2u, 4u, 9u, 13u}) {
    Bytes bytes = colors;
    bytes[segment(colors, adobe) + 3] = static_cast<std::byte>(length);
    CAPTURE(length);
    CHECK(is_corrupt(bytes));
    // Whatever stray bytes stand before it.
    CHECK(is_corrupt(with_inserted(bytes, 2, "\xff\xe2\0\2x\xff\xe2\0\7Adobexx"s)));
    CHECK(decoded(with_inserted(colors, 2, "\xff\xe2\0\2x\xff\xe2\0\2x"s)) == plain_decode(colors));
  }
  // A progressive image that claims to be baseline, with the parameters of its first scan made zeros.
  Bytes spectral = plain_encode(photo({60, 50, 3}), {.progressive = true});
  spectral[segment(spectral, 0xc2) + 1] = std::byte{sof};
  spectral[segment(spectral, sos) + 4 + 1 + 2 * 3 + 2] = std::byte{0};
  CHECK(is_corrupt(spectral));
}

TEST_CASE("stray bytes that may be a later scan's tables are an error") {
  for (std::int32_t size = 8; size < 40; ++size) {
    const auto [good, places] = with_tables_up_front(photo({size, size, 3}, static_cast<std::uint64_t>(size)));
    REQUIRE(places.size() == 2);
    CHECK(decoded(good) == plain_decode(good));
    CHECK(decoded(with_inserted(good, segment(good, dqt), "abc")) == plain_decode(good));
    for (const std::size_t at : places) {
      Bytes bytes = good;
      REQUIRE(bytes[at + 1] == std::byte{dht});
      bytes[at] = std::byte{0};
      CAPTURE(size, at);
      CHECK(is_corrupt(bytes));
    }
  }
}

TEST_CASE("stray bytes that may be Exif data are an error where its orientation counts") {
  const Bytes plain = plain_encode(photo({20, 30, 3}), {});
  Bytes bytes = with_inserted(plain, 2, exif_segment(6, false));
  for (const std::size_t byte : {2u, 3u}) {
    Bytes damaged = bytes;
    damaged[byte] = std::byte{0};
    CAPTURE(byte);
    CHECK(decoded(damaged) == plain_decode(plain));
    CHECK(is_corrupt(damaged, {.apply_orientation = true}));
  }
  for (const unsigned length : {2u, 4u, 9u, 20u, 32u}) {
    Bytes damaged = bytes;
    damaged[5] = static_cast<std::byte>(length);
    CAPTURE(length);
    CHECK(decoded(damaged) == plain_decode(plain));
    CHECK(is_corrupt(damaged, {.apply_orientation = true}));
  }
}

TEST_CASE("stray bytes after an image's scans are an error, where somebody looks there") {
  for (const bool progressive : {false, true}) {
    const Bytes good = plain_encode(photo({60, 50, 3}), {.progressive = progressive});
    const Bytes bytes = with_inserted(good, good.size() - 2, std::string(100, 'x'));
    CHECK(is_corrupt(bytes));
    CHECK_NOTHROW(decoded(bytes, {.accept_warnings = true}));
  }
  const Bytes scans = plain_encode(photo({60, 50, 3}), {.one_scan_each = true});
  for (std::size_t i = segment(scans, sos) + 2; i + 1 < scans.size(); ++i) {
    if (scans[i] != std::byte{0xff} || scans[i + 1] != std::byte{sos}) continue;
    CHECK(is_corrupt(with_inserted(scans, i, std::string(100, 'x'))));
    break;
  }
}
