// SPDX-License-Identifier: Apache-2.0
// Damaged and hostile TIFFs. TIFF has no check sums: damage is an error or changes pixels, the same ones each time.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_tiff.hpp>

#include "sources/temp_folder.hpp"
#include "support/campaign.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/tiff/tiff_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

Image decode(ImageDecoding& decoding, std::span<const std::byte> bytes, int before = 0xa5) {
  TestScratch scratch;
  Image image(decoding.open(bytes));
  std::memset(image.pixels.data(), before, image.pixels.size());
  decoding.decode({0, 0, image.shape.height, image.shape.width}, false,
                  reinterpret_cast<std::byte*>(image.pixels.data()), scratch);
  return image;
}

// Kinds whose strips and tiles are compressed in all ways.
std::vector<TiffKind> damage_kinds() {
  std::vector<TiffKind> kinds = tiff_kinds();
  for (const std::int32_t tile : {0, 16}) {
    kinds.push_back({.photometric = PHOTOMETRIC_YCBCR, .tile = tile, .compression = COMPRESSION_JPEG});
    kinds.push_back({.photometric = PHOTOMETRIC_MINISBLACK, .tile = tile, .compression = COMPRESSION_JPEG});
    for (const int fax : {COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4})
      kinds.push_back({.photometric = PHOTOMETRIC_MINISWHITE, .bits = 1, .tile = tile, .compression = fax});
    if (TIFFIsCODECConfigured(COMPRESSION_WEBP) != 0) kinds.push_back({.tile = tile, .compression = COMPRESSION_WEBP});
  }
  return kinds;
}

// Where the value of a tag is in the only directory of a file of mode "wl", which libtiff writes at the end.
std::size_t value_of_tag(const Bytes& bytes, unsigned tag) {
  const auto number = [&](std::size_t at, unsigned count) {
    std::size_t value = 0;
    for (unsigned i = 0; i < count; ++i) value |= std::to_integer<std::size_t>(bytes.at(at + i)) << (8 * i);
    return value;
  };
  const std::size_t directory = number(4, 4);
  for (std::size_t i = 0; i < number(directory, 2); ++i)
    if (number(directory + 2 + 12 * i, 2) == tag) return directory + 2 + 12 * i + 8;
  throw std::runtime_error("no such tag");
}

void put(Bytes& bytes, std::size_t at, std::uint64_t value, unsigned count = 4) {
  for (unsigned i = 0; i < count; ++i) bytes.at(at + i) = static_cast<std::byte>(value >> (8 * i));
}

// A file whose tag has another value. Its entry gets the type LONG.
Bytes changed(Bytes bytes, unsigned tag, std::uint64_t value) {
  const std::size_t at = value_of_tag(bytes, tag);
  put(bytes, at - 6, 4, 2);
  put(bytes, at, value);
  return bytes;
}

}  // namespace

TEST_CASE("a TIFF that is cut off anywhere is an error, and the next one is not touched by it") {
  const TiffFile good({}, {9, 12}, 1);
  const auto decoding = tiff_decoder({.high_byte = true})->start();
  std::uint64_t seed = 0;
  for (const TiffKind& kind : damage_kinds()) {
    if (++seed % 7 != 0) continue;
    // libtiff writes the directory behind the pixels.
    const Bytes bytes = TiffFile(kind, {20, 21}, seed).bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(kind.photometric, kind.bits, kind.tile, kind.compression, size, bytes.size());
      REQUIRE(code_of([&] { decode(*decoding, std::span(bytes).first(size)); }) == Errc::corrupt);
    }
    CHECK(decode(*decoding, good.bytes()) == good.expected(TiffOptions::rgb));
  }
}

TEST_CASE("a strip or tile that is cut off is an error if it is decoded") {
  for (const TiffKind& kind : damage_kinds()) {
    if (kind.tile != 0 || kind.planes || std::string(kind.mode) != "wl") continue;
    // libtiff computes the size of strips that are not compressed.
    if (kind.compression == COMPRESSION_NONE) continue;
    CAPTURE(kind.photometric, kind.bits, kind.compression);
    const TiffFile file(kind, {40, 30}, 3);
    // The first strip has no bytes.
    Bytes bytes = file.bytes();
    const std::size_t entry = value_of_tag(bytes, TIFFTAG_STRIPBYTECOUNTS);
    std::size_t list = 0;
    for (unsigned i = 0; i < 4; ++i) list |= std::to_integer<std::size_t>(bytes[entry + i]) << (8 * i);
    const bool words = bytes[entry - 6] == std::byte{3};
    put(bytes, list, 1, words ? 2 : 4);
    const auto decoding = tiff_decoder({.high_byte = true})->start();
    CHECK(code_of([&] { decode(*decoding, bytes); }) == Errc::corrupt);
    // It is not read for a part below it, unless that is verified.
    TestScratch scratch;
    decoding->open(bytes);
    const Box below{20, 3, 20, 22};
    CHECK_NOTHROW(decoding->decode(below, false, nullptr, scratch));
    CHECK(code_of([&] { decoding->decode(below, true, nullptr, scratch); }) == Errc::corrupt);
  }
}

// PENSTOCK_RUNS times as many, from PENSTOCK_SEED: tests/campaigns/tiff.
TEST_CASE("changed TIFFs are an error, or the same image each time") {
  const TiffFile good({}, {9, 12}, 1);
  const std::vector<TiffKind> kinds = damage_kinds();
  int errors = 0, images = 0;
  const std::uint64_t first = numbered_seed(1), files = runs(2000);
  const auto decoding =
      tiff_decoder({.color = TiffOptions::rgba, .high_byte = true, .max_pixels = 1 << 20, .apply_orientation = true})
          ->start();
  for (std::uint64_t file = 0; file < files; ++file) {
    const std::uint64_t seed = first + file;
    CAPTURE(seed);
    Numbers numbers(seed);
    Bytes bytes = TiffFile(kinds[seed % kinds.size()], {numbers.from(1, 50), numbers.from(1, 50)}, seed).bytes();
    for (int n = numbers.from(1, 4); n > 0; --n) {
      // Half of the changes are in the directory.
      const auto size = static_cast<std::int32_t>(bytes.size());
      const std::int32_t at = numbers.coin() ? std::max(0, size - 1 - numbers.below(220)) : numbers.below(size);
      bytes[static_cast<std::size_t>(at)] =
          static_cast<std::byte>(numbers.coin() ? numbers.below(256) : numbers.below(8));
    }
    if (numbers.below(8) == 0)
      bytes.resize(static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(bytes.size()))));
    std::optional<Image> whole;
    try {
      whole = decode(*decoding, bytes);
      REQUIRE(decode(*decoding, bytes, 0x5a) == *whole);
      ++images;
    } catch (const Error& error) {
      REQUIRE(error.sample_scoped());
      REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
      REQUIRE_FALSE(whole);
      ++errors;
    }
    try {
      const ImageShape shape = decoding->open(bytes);
      Box box{0, 0, numbers.from(1, shape.height), numbers.from(1, shape.width)};
      box.top = numbers.from(0, shape.height - box.height), box.left = numbers.from(0, shape.width - box.width);
      TestScratch scratch;
      const Image part = copied(decoding->decode(box, numbers.coin(), nullptr, scratch));
      if (whole) REQUIRE(part == cut(*whole, box));
    } catch (const Error& error) {
      REQUIRE(error.sample_scoped());
      REQUIRE_FALSE(whole);
    }
    if (file % 50 == 0) REQUIRE(decode(*decoding, good.bytes()) == good.expected(TiffOptions::rgba));
  }
  CHECK(errors > static_cast<int>(files / 4));
  CHECK(images > static_cast<int>(files / 10));
}

TEST_CASE("libtiff prints nothing") {
  const std::vector<TiffKind> kinds = damage_kinds();
  std::vector<Bytes> files;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Numbers numbers(seed);
    Bytes bytes = TiffFile(kinds[seed % kinds.size()], {30, 31}, seed).bytes();
    for (int n = 0; n < 20; ++n)
      bytes[static_cast<std::size_t>(8 + numbers.below(static_cast<std::int32_t>(bytes.size()) - 8))] =
          static_cast<std::byte>(numbers.next());
    files.push_back(std::move(bytes));
  }
  const TempFolder folder;
  std::fflush(stderr);
  const int before = dup(2), file = open((folder / "printed").c_str(), O_CREAT | O_WRONLY, 0600);
  REQUIRE(dup2(file, 2) == 2);
  int errors = 0;
  const auto decoding = tiff_decoder({.color = TiffOptions::rgba, .high_byte = true})->start();
  for (const Bytes& bytes : files) {
    try {
      decode(*decoding, bytes);
    } catch (const Error&) {
      ++errors;
    }
  }
  std::fflush(stderr);
  dup2(before, 2);
  close(before), close(file);
  CHECK(errors > 100);
  CHECK(text_in(folder / "printed") == "");
}

TEST_CASE("TIFFs that are not decoded are refused by name") {
  const auto cause = [](const TiffKind& kind, unsigned tag, std::uint64_t value, const TiffOptions& options = {}) {
    const Bytes bytes = TiffFile(kind, {20, 21}, 1).bytes();
    const Error error =
        error_of([&] { tiff_decoder(options)->start()->open(tag == 0 ? bytes : changed(bytes, tag, value)); });
    CHECK(error.code() == Errc::unsupported);
    return std::string(error.what());
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const TiffKind gray{.photometric = PHOTOMETRIC_MINISBLACK};
  CHECK(
      has(cause({.extra = EXTRASAMPLE_UNSPECIFIED}, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_SEPARATED), "CMYK or other inks"));
  CHECK(has(cause({}, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_CIELAB), "CIELab"));
  CHECK(has(cause({}, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_YCBCR), "YCbCr that is not JPEG"));
  CHECK(has(cause(gray, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MASK), "a transparency mask"));
  CHECK(has(cause(gray, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_CFA), "the raw values of a camera"));
  CHECK(has(cause(gray, TIFFTAG_PHOTOMETRIC, 77), "unknown meaning (PhotometricInterpretation 77)"));
  CHECK(has(cause(gray, TIFFTAG_COMPRESSION, COMPRESSION_OJPEG), "the TIFF's compression 6 is not decoded"));
  CHECK(has(cause({.bits = 16}, 0, 0), "a TIFF of 16 bits does not fit into 8; `dtype = u16`"));
  CHECK(has(cause({}, 0, 0, {.color = TiffOptions::labels}), "labels are palette indices or grey values"));
  CHECK(has(cause({.photometric = PHOTOMETRIC_MINISBLACK, .extra = EXTRASAMPLE_UNASSALPHA}, 0, 0,
                  {.color = TiffOptions::labels}),
            "the TIFF has colours or opacity"));
  CHECK(has(cause({.photometric = PHOTOMETRIC_MINISBLACK, .compression = COMPRESSION_JPEG}, 0, 0,
                  {.color = TiffOptions::labels}),
            "compressed as JPEG or WebP, which keeps no label"));
  CHECK(has(cause({.photometric = PHOTOMETRIC_MINISBLACK, .bits = 16}, 0, 0, {.color = TiffOptions::labels}),
            "labels of 16 bits"));
  const auto with = [&](int bits, std::uint16_t format, int samples) {
    const Bytes bytes = written("wl", [&](::TIFF* tiff) {
      const Bytes pixels(static_cast<std::size_t>(4 * samples * bits / 8));
      TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
      TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
      TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
      TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
      TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format);
      TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
      const std::vector<std::uint16_t> extras(static_cast<std::size_t>(samples - 1));
      if (samples > 1) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, samples - 1, extras.data());
      Bytes row = pixels;
      TIFFWriteEncodedStrip(tiff, 0, row.data(), static_cast<tmsize_t>(row.size()));
    });
    const Error error = error_of([&] { tiff_decoder()->start()->open(bytes); });
    CHECK(error.code() == Errc::unsupported);
    return std::string(error.what());
  };
  CHECK(has(with(32, SAMPLEFORMAT_IEEEFP, 1), "floating point"));
  CHECK(has(with(16, SAMPLEFORMAT_INT, 1), "signed"));
  CHECK(has(with(32, SAMPLEFORMAT_UINT, 1), "32 bits, and only 1, 2, 4, 8 and 16"));
  CHECK(has(with(8, SAMPLEFORMAT_UINT, 5), "5 channels, and at most one more than its colours"));
  CHECK(has(with(4, SAMPLEFORMAT_UINT, 2), "several channels of 4 bits"));
}

TEST_CASE("a TIFF that contradicts itself is corrupt") {
  const auto code = [](const Bytes& bytes) {
    const Error error = error_of([&] { decode(*tiff_decoder()->start(), bytes); });
    INFO(error.what());
    return error.code();
  };
  const Bytes good = TiffFile({}, {20, 21}, 1).bytes();
  for (const std::size_t at : {0u, 1u, 2u, 3u}) {
    Bytes bytes = good;
    bytes[at] = std::byte{'x'};
    CHECK(code(bytes) == Errc::corrupt);
  }
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{good.size()}, std::uint64_t{0xffffffff}}) {
    Bytes bytes = good;
    put(bytes, 4, offset);
    CHECK(code(bytes) == Errc::corrupt);
  }
  CHECK(code(changed(good, TIFFTAG_IMAGEWIDTH, 0)) == Errc::corrupt);
  CHECK(code(changed(good, TIFFTAG_ROWSPERSTRIP, 0)) == Errc::corrupt);
  CHECK(code(changed(good, TIFFTAG_ROWSPERSTRIP, 1)) == Errc::corrupt);
  CHECK(code(changed(good, TIFFTAG_IMAGELENGTH, 100'000)) == Errc::corrupt);
  CHECK(code(changed(good, TIFFTAG_STRIPOFFSETS, 0xfffffff0)) == Errc::corrupt);
  CHECK(code(changed(TiffFile({.photometric = PHOTOMETRIC_MINISBLACK}, {20, 21}, 1).bytes(), TIFFTAG_PHOTOMETRIC,
                     PHOTOMETRIC_PALETTE)) == Errc::corrupt);
  // The list leads back to the same directory.
  Bytes loop = good;
  std::size_t directory = 0;
  for (unsigned i = 0; i < 4; ++i) directory |= std::to_integer<std::size_t>(good[4 + i]) << (8 * i);
  const std::size_t entries = std::to_integer<std::size_t>(good[directory]);
  put(loop, directory + 2 + 12 * entries, directory);
  const Error error = error_of([&] { decode(*tiff_decoder()->start(), loop); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(mentions(error, "the TIFF's directories overlap, or their list has no end"));
  // Its first page can be decoded nevertheless.
  CHECK(decode(*tiff_decoder({.page = 0})->start(), loop) == decode(*tiff_decoder()->start(), good));
}

TEST_CASE("tags that share their values, and directories of very many tags, are refused before libtiff reads them") {
  const auto refused = [](unsigned tags, std::uint64_t bytes, std::uint64_t offset = 0) {
    Bytes file(8 + 2 + 12 * std::size_t{tags} + 4 + 100);
    put(file, 0, 0x002a4949);
    put(file, 4, 8);
    put(file, 8, tags, 2);
    for (std::size_t i = 0; i < tags; ++i) {
      const std::size_t at = 10 + 12 * i;
      put(file, at, 40'000 + i, 2), put(file, at + 2, 1, 2), put(file, at + 4, bytes), put(file, at + 8, offset);
    }
    return error_of([&] { tiff_decoder()->start()->open(file); });
  };
  CHECK(mentions(refused(2, 100), "declare more values than the TIFF has"));
  CHECK(mentions(refused(2, 60), "has no pixels"));
  CHECK(mentions(refused(1, 120, 7), "ends before the values of one of its tags"));
  CHECK(mentions(refused(1, 127), "declares more values than there are bytes"));
  CHECK(mentions(refused(400, 1), "has no pixels"));
  const Error many = refused(401, 1);
  CHECK(many.code() == Errc::limit_exceeded);
  CHECK(mentions(many, "declares 401 tags, and at most 400 are read"));
}

TEST_CASE("Deflate streams that are longer than their strips are decoded") {
  // Some programs write the last strip with all its rows.
  for (const bool predictor : {false, true})
    for (const int bits : {8, 16})
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(predictor, bits, seed);
        const Size size{15, 1 + static_cast<std::int32_t>(seed % 23)};
        const TiffFile file({.bits = bits, .compression = COMPRESSION_ADOBE_DEFLATE, .predictor = predictor}, size,
                            seed);
        const auto height = static_cast<std::int32_t>(11 + seed % 4);
        const Bytes bytes = changed(file.bytes(), TIFFTAG_IMAGELENGTH, static_cast<std::uint64_t>(height));
        const Image expected = cut(file.expected(TiffOptions::rgb), {0, 0, height, size.width});
        REQUIRE(decode(*tiff_decoder({.high_byte = true})->start(), bytes) == expected);
      }
}

TEST_CASE("a WebP of another size in a strip or tile is corrupt") {
  if (TIFFIsCODECConfigured(COMPRESSION_WEBP) == 0) PENSTOCK_SKIP("libtiff has no WebP");
  for (const std::int32_t tile : {0, 16}) {
    const TiffFile file({.tile = tile, .compression = COMPRESSION_WEBP}, {15, 16}, 1);
    Bytes bytes = file.bytes();
    CHECK(decode(*tiff_decoder()->start(), bytes) == file.expected(TiffOptions::rgb));
    // A lossless frame has its sides, less 1, in 14 bits each, behind its signature.
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t at = text.find("VP8L") + 9;
    bytes[at] = static_cast<std::byte>((std::to_integer<unsigned>(bytes[at]) & 0xf0u) | 7u);  // a width of 8
    const Error error = error_of([&] { decode(*tiff_decoder()->start(), bytes); });
    CHECK(error.code() == Errc::corrupt);
    CHECK(mentions(error, "of the TIFF is not a WebP of its size"));
  }
}

TEST_CASE("sizes that a TIFF only claims are refused at once") {
  const auto start = std::chrono::steady_clock::now();
  const auto refused = [](const Bytes& bytes, const TiffOptions& options = {}) {
    return error_of([&] { tiff_decoder(options)->start()->open(bytes); });
  };
  const Bytes strips = TiffFile({}, {20, 21}, 1).bytes();
  const Error large = refused(changed(changed(strips, TIFFTAG_IMAGEWIDTH, 30'000), TIFFTAG_IMAGELENGTH, 30'000));
  CHECK(large.code() == Errc::limit_exceeded);
  CHECK(mentions(large, "30000x30000 pixels, above max_pixels = 268435456"));
  const TiffOptions boundless{.max_pixels = ~std::uint64_t{0}};
  CHECK(refused(changed(changed(strips, TIFFTAG_IMAGEWIDTH, 0xffffffff), TIFFTAG_IMAGELENGTH, 0xffffffff), boundless)
            .code() == Errc::limit_exceeded);
  // Below the limit, in a single strip, but more than its bytes can hold.
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS}) {
    const Bytes one = TiffFile({.compression = compression}, {5, 21}, 1).bytes();
    const Error claims = refused(changed(changed(changed(one, TIFFTAG_IMAGEWIDTH, 10'000), TIFFTAG_IMAGELENGTH, 20'000),
                                         TIFFTAG_ROWSPERSTRIP, 20'000));
    CHECK(claims.code() == Errc::corrupt);
    CHECK(mentions(claims, "which can't be in its"));
  }
  // Tiles that are far larger than the image.
  const Bytes tiles = TiffFile({.tile = 16, .compression = COMPRESSION_ZSTD}, {10, 11}, 1).bytes();
  const Error tile = refused(changed(changed(tiles, TIFFTAG_TILEWIDTH, 1 << 15), TIFFTAG_TILELENGTH, 1 << 15));
  CHECK(tile.code() == Errc::limit_exceeded);
  CHECK(mentions(tile, "tiles of 32768x32768 pixels, far larger than its image of 11x10"));
  // A million rows in strips of one row, of which no offsets are listed.
  CHECK(refused(changed(changed(strips, TIFFTAG_IMAGELENGTH, 1 << 20), TIFFTAG_ROWSPERSTRIP, 1)).code() ==
        Errc::corrupt);
  const auto small = tiff_decoder({.max_pixels = 40 * 50})->start();
  CHECK(small->open(TiffFile({}, {40, 50}, 1).bytes()) == ImageShape{40, 50, 3});
  CHECK(code_of([&] { small->open(TiffFile({}, {40, 51}, 1).bytes()); }) == Errc::limit_exceeded);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(400));
}

}  // namespace PENSTOCK_TEST_FILE
