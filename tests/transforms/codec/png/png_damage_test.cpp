// SPDX-License-Identifier: Apache-2.0
// Damaged and hostile PNGs: an error, never another image; and nothing is taken for what is only claimed.
#include <chrono>
#include <cstring>

#include <penstock/error.hpp>
#include <penstock/transforms/decode_png.hpp>

#include <zlib.h>

#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/png/png_files.hpp"

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

using Chunk = PngFile::Chunk;

Chunk& chunk(PngFile& file, std::string_view type) {
  for (Chunk& c : file.chunks)
    if (c.type == type) return c;
  FAIL("no such chunk");
  return file.chunks[0];
}

void insert(PngFile& file, std::string_view before, const Chunk& added) {
  for (std::size_t i = 0; i < file.chunks.size(); ++i)
    if (file.chunks[i].type == before) {
      file.chunks.insert(file.chunks.begin() + static_cast<std::ptrdiff_t>(i), added);
      return;
    }
}

// One IDAT in place of all, made by `change` from what they held.
void recompress(PngFile& file, auto&& change) {
  std::vector<std::uint8_t> packed;
  for (const Chunk& c : file.chunks)
    if (c.type == "IDAT") packed.insert(packed.end(), c.data.begin(), c.data.end());
  std::erase_if(file.chunks, [](const Chunk& c) { return c.type == "IDAT"; });
  change(packed);
  insert(file, "tIME", {"IDAT", packed});
}

std::vector<std::uint8_t> inflated(const std::vector<std::uint8_t>& packed) {
  std::vector<std::uint8_t> raw(1 << 20);
  uLongf length = raw.size();
  REQUIRE(uncompress(raw.data(), &length, packed.data(), packed.size()) == Z_OK);
  raw.resize(length);
  return raw;
}

std::vector<std::uint8_t> deflated(const std::vector<std::uint8_t>& raw) {
  std::vector<std::uint8_t> packed(compressBound(raw.size()));
  uLongf length = packed.size();
  REQUIRE(compress(packed.data(), &length, raw.data(), raw.size()) == Z_OK);
  packed.resize(length);
  return packed;
}

}  // namespace

TEST_CASE("a PNG that is cut off anywhere is an error, and the next one is not touched by it") {
  const PngFile good({6, 8}, {9, 12}, 1);
  const auto decoding = png_decoder({.color = PngOptions::rgba})->start();
  for (const PngKind& kind : {PngKind{2, 8}, PngKind{3, 4, true, true}}) {
    const Bytes bytes = PngFile(kind, {20, 21}, 2).bytes();
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(size);
      const Error error = error_of([&] { decode(*decoding, std::span(bytes).first(size)); });
      REQUIRE(error.code() == Errc::corrupt);
      REQUIRE(error.offset().has_value());
      REQUIRE(*error.offset() <= size);
    }
    CHECK(decode(*decoding, good.bytes()) == good.expected(PngOptions::rgba));
  }
}

TEST_CASE("changed bytes are noticed wherever they are, also by a part") {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed);
    const auto kinds = png_kinds();
    const PngFile file(kinds[seed % kinds.size()], {30, 31}, seed % 7);
    Bytes bytes = file.bytes();
    const Bytes before = bytes;
    for (int n = numbers.from(1, 4); n > 0; --n)
      bytes[static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(bytes.size())))] =
          static_cast<std::byte>(numbers.next());
    if (bytes == before) continue;
    const auto decoding = png_decoder({.color = PngOptions::rgba, .high_byte = true})->start();
    TestScratch scratch;
    const Error error = error_of([&] {
      decoding->open(bytes);
      decoding->decode({0, 0, 1, 1}, false, nullptr, scratch);
    });
    REQUIRE(error.sample_scoped());
    REQUIRE(std::string(error.what()).find('\n') == std::string::npos);
    ++seen;
  }
  CHECK(seen > 3900);
}

TEST_CASE("chunks with right sums and wrong content give an error or an image") {
  const PngFile good({6, 8}, {9, 12}, 1);
  const auto decoding = png_decoder({.color = PngOptions::rgba, .high_byte = true})->start();
  int errors = 0, images = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    CAPTURE(seed);
    Numbers numbers(seed);
    const auto kinds = png_kinds();
    PngFile file(kinds[seed % kinds.size()], {30, 31}, seed % 7);
    for (int n = numbers.from(1, 3); n > 0; --n) {
      const auto at = static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(file.chunks.size())));
      Chunk& c = file.chunks[at];
      switch (numbers.below(6)) {
        case 0:
          file.chunks.erase(file.chunks.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 1:
          file.chunks.insert(file.chunks.begin() + static_cast<std::ptrdiff_t>(at), Chunk(c));
          break;
        case 2:
          std::swap(
              c, file.chunks[static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(file.chunks.size())))]);
          break;
        case 3:
          c.data.resize(static_cast<std::size_t>(numbers.below(40)));
          break;
        default:
          if (!c.data.empty())
            c.data[static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(c.data.size())))] =
                static_cast<std::uint8_t>(numbers.next());
      }
      if (file.chunks.empty()) break;
    }
    // The image may be declared another: its size is then bounded by its bytes.
    try {
      decode(*decoding, file.bytes());
      ++images;
    } catch (const Error& error) {
      REQUIRE(error.sample_scoped());
      ++errors;
    }
    if (seed % 50 == 0) REQUIRE(decode(*decoding, good.bytes()) == good.expected(PngOptions::rgba));
  }
  CHECK(errors > 3000);
  CHECK(images > 500);
}

TEST_CASE("what is wrong with the compressed pixels is an error") {
  const auto decoding = png_decoder()->start();
  for (const bool interlaced : {false, true}) {
    const auto outcome = [&](auto&& change) {
      PngFile file({2, 8, interlaced}, {20, 20}, 3);
      recompress(file, change);
      const Error error = error_of([&] { decode(*decoding, file.bytes()); });
      INFO(error.what());
      return error.code();
    };
    // Its sum, its last rows, rows and bytes too many, a filter that is none.
    CHECK(outcome([](auto& packed) { packed.back() ^= 1; }) == Errc::corrupt);
    CHECK(outcome([](auto& packed) {
            auto raw = inflated(packed);
            raw.resize(raw.size() - 5);
            packed = deflated(raw);
          }) == Errc::corrupt);
    CHECK(outcome([](auto& packed) {
            auto raw = inflated(packed);
            raw.resize(raw.size() + 1);
            packed = deflated(raw);
          }) == Errc::corrupt);
    CHECK(outcome([](auto& packed) { packed.push_back(0); }) == Errc::corrupt);
    CHECK(outcome([](auto& packed) {
            auto raw = inflated(packed);
            raw[0] = 9;
            packed = deflated(raw);
          }) == Errc::corrupt);
    PngFile same({2, 8, interlaced}, {20, 20}, 3);
    recompress(same, [](auto& packed) { packed = deflated(inflated(packed)); });
    CHECK(decode(*decoding, same.bytes()) == same.expected(PngOptions::rgb));
  }
}

TEST_CASE("chunks that do not belong where they are, or at all") {
  const auto decoding = png_decoder({.color = PngOptions::rgba})->start();
  const auto outcome = [&](const PngKind& kind, auto&& change) {
    PngFile file(kind, {8, 8}, 1);
    change(file);
    const Error error = error_of([&] { decode(*decoding, file.bytes()); });
    INFO(error.what());
    return error.code();
  };
  const PngKind color{2, 8}, indexed{3, 8, false, true};
  CHECK(outcome(color, [](PngFile& f) { insert(f, "IDAT", {"CgBI", {1, 2, 3, 4}}); }) == Errc::unsupported);
  CHECK(outcome(color, [](PngFile& f) { insert(f, "IDAT", {"a\n b", {}}); }) == Errc::corrupt);
  CHECK(outcome(color, [](PngFile& f) { insert(f, "IHDR", {"tEXt", {}}); }) == Errc::corrupt);
  CHECK(outcome(color, [](PngFile& f) { insert(f, "IEND", chunk(f, "IHDR")); }) == Errc::corrupt);
  CHECK(outcome(color, [](PngFile& f) { insert(f, "IEND", {"IDAT", {1}}); }) == Errc::corrupt);
  CHECK(outcome(color, [](PngFile& f) { insert(f, "IDAT", {"tRNS", {1, 2}}); }) == Errc::corrupt);
  CHECK(outcome({6, 8}, [](PngFile& f) { insert(f, "IDAT", {"tRNS", {0, 1, 0, 1, 0, 1}}); }) == Errc::corrupt);
  CHECK(outcome(indexed, [](PngFile& f) { insert(f, "IDAT", chunk(f, "PLTE")); }) == Errc::corrupt);
  CHECK(outcome(indexed, [](PngFile& f) { chunk(f, "PLTE").data.pop_back(); }) == Errc::corrupt);
  CHECK(outcome(indexed, [](PngFile& f) { chunk(f, "PLTE").type = "pltE"; }) == Errc::corrupt);
  CHECK(outcome(indexed, [](PngFile& f) { chunk(f, "PLTE").data.resize(9); }) == Errc::corrupt);
  CHECK(outcome(color, [](PngFile& f) { std::erase_if(f.chunks, [](const Chunk& c) { return c.type == "IDAT"; }); }) ==
        Errc::corrupt);
  for (const auto& [at, value] :
       {std::pair{8, 3}, std::pair{9, 1}, std::pair{10, 1}, std::pair{11, 1}, std::pair{12, 2}, std::pair{0, 0x80}})
    CHECK(outcome(color, [&, place = static_cast<std::size_t>(at), byte = value](PngFile& f) {
            chunk(f, "IHDR").data[place] = static_cast<std::uint8_t>(byte);
          }) == Errc::corrupt);
  // A suggested palette of a coloured image, and chunks that no decoder knows, are none of ours.
  PngFile harmless(color, {8, 8}, 1);
  insert(harmless, "IDAT", {"PLTE", {1, 2, 3}});
  insert(harmless, "IDAT", {"waRm", {0xff, 0xff}});
  CHECK(decode(*decoding, harmless.bytes()) == harmless.expected(PngOptions::rgba));
}

TEST_CASE("an index beyond the palette is an error where a colour is made of it, and a label where it is one") {
  for (const bool interlaced : {false, true}) {
    PngFile file({3, 8, interlaced}, {8, 8}, 1);
    chunk(file, "PLTE").data.resize(9);
    const Bytes bytes = file.bytes();
    for (const PngOptions::Color color : {PngOptions::rgb, PngOptions::gray, PngOptions::rgba, PngOptions::as_stored}) {
      const auto decoding = png_decoder({.color = color})->start();
      const Error error = error_of([&] { decode(*decoding, bytes); });
      CHECK(error.code() == Errc::corrupt);
      REQUIRE(error.offset().has_value());
      CHECK(*error.offset() <= bytes.size());
    }
    const auto decoding = png_decoder({.color = PngOptions::labels})->start();
    CHECK(decode(*decoding, bytes) == file.expected(PngOptions::labels));
  }
}

TEST_CASE("sizes that a PNG only claims are refused at once") {
  const auto limited = png_decoder()->start();
  const auto declared_by = [](ImageDecoding& decoding, const PngKind& kind, std::uint32_t height, std::uint32_t width) {
    PngFile file(kind, {16, 16}, 1);
    auto& header = chunk(file, "IHDR").data;
    for (int i = 0; i < 4; ++i) {
      header[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(width >> (24 - 8 * i));
      header[static_cast<std::size_t>(4 + i)] = static_cast<std::uint8_t>(height >> (24 - 8 * i));
    }
    const Error error = error_of([&] { decoding.open(file.bytes()); });
    if (error.code() == Errc::corrupt) CHECK(error.offset() == 8);
    return error.code();
  };
  const auto declared = [&](std::uint32_t height, std::uint32_t width) {
    return declared_by(*limited, {2, 8}, height, width);
  };
  const auto start = std::chrono::steady_clock::now();
  CHECK(declared(30000, 30000) == Errc::limit_exceeded);
  CHECK(declared(0x7fffffff, 0x7fffffff) == Errc::limit_exceeded);
  // Below the limit, but more than its bytes can hold.
  CHECK(declared(16000, 16000) == Errc::corrupt);
  CHECK(declared(1, 1u << 28) == Errc::corrupt);
  CHECK(declared(0, 16) == Errc::corrupt);
  // An image of 2^66 bits.
  const auto boundless = png_decoder({.high_byte = true, .max_pixels = ~std::uint64_t{0}})->start();
  CHECK(declared_by(*boundless, {6, 16}, 1u << 30, 1u << 30) == Errc::corrupt);
  CHECK(declared_by(*boundless, {6, 16}, 0x7fffffff, 0x7fffffff) == Errc::corrupt);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(200));
  const auto small = png_decoder({.max_pixels = 40 * 50})->start();
  CHECK(small->open(PngFile({2, 8}, {40, 50}, 1).bytes()) == ImageShape{40, 50, 3});
  CHECK(error_of([&] { small->open(PngFile({2, 8}, {40, 51}, 1).bytes()); }).code() == Errc::limit_exceeded);
}

TEST_CASE("what stands beside the pixels is never unpacked") {
  // 64 MiB of zeros in a profile and in a text, each in 64 KiB.
  const std::vector<std::uint8_t> bomb = deflated(std::vector<std::uint8_t>(64 << 20));
  PngFile file({2, 8}, {16, 16}, 1);
  for (const auto& [type, head] : {std::pair{"iCCP", 3}, std::pair{"zTXt", 3}}) {
    std::vector<std::uint8_t> data{'a', 0, 0};
    data.resize(static_cast<std::size_t>(head));
    data.insert(data.end(), bomb.begin(), bomb.end());
    insert(file, "IDAT", {type, data});
  }
  const auto decoding = png_decoder()->start();
  const Bytes bytes = file.bytes();
  const auto start = std::chrono::steady_clock::now();
  for (int n = 0; n < 5; ++n) CHECK(decode(*decoding, bytes) == file.expected(PngOptions::rgb));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::milliseconds(300));
}
