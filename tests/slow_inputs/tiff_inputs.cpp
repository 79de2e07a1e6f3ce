// SPDX-License-Identifier: Apache-2.0
// TIFF files of many directories, tags, strips and pixels.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <penstock/transforms/decode_tiff.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"
#include "transforms/codec/tiff/tiff_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

void write_tiff(const TempFolder& folder, const Bytes& bytes) {
  folder.write("image.tif", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// An image of four rows for each column.
Size size_of(std::size_t pixels) {
  std::int32_t width = 1;
  while (4 * static_cast<std::size_t>(width + 1) * static_cast<std::size_t>(width + 1) <= pixels) ++width;
  return {4 * width, width};
}

void decode(const TempFolder& folder) {
  const std::string text = content_of(folder, "image.tif");
  TestScratch scratch;
  const auto decoding = tiff_decoder()->start();
  const ImageShape shape = decoding->open(std::as_bytes(std::span(text)));
  decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch);
}

SlowInput pixels(std::string name, std::size_t n, const TiffKind& kind) {
  return {.name = std::move(name),
          .size = n,
          .make = [kind](const TempFolder& f,
                         std::size_t size) { write_tiff(f, TiffFile(kind, size_of(size), 1).bytes()); },
          .use = decode};
}

void append(Bytes& bytes, std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
}

// Directories of `entries` tags without a meaning, each `step` bytes behind the one before.
void with_directories(const TempFolder& folder, std::size_t n, std::size_t entries, std::size_t step) {
  Bytes bytes;
  append(bytes, 0x002a4949, 4);
  append(bytes, 8, 4);
  const std::size_t directory = 2 + 12 * entries + 4;
  bytes.resize(8 + step * n + directory);
  for (std::size_t i = 0; i < n; ++i) {
    Bytes head, next;
    append(head, entries, 2);
    append(next, i + 1 < n ? 8 + (i + 1) * step : 0, 4);
    const std::size_t at = 8 + i * step;
    std::copy(head.begin(), head.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    std::copy(next.begin(), next.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at + directory - 4));
  }
  write_tiff(folder, bytes);
}

// Tags that libtiff does not know, of which all have the same value of n bytes.
void with_tags(const TempFolder& folder, std::size_t n) {
  const Bytes value(n);
  Bytes bytes;
  append(bytes, 0x002a4949, 4);
  append(bytes, 8, 4);
  constexpr std::size_t entries = 300;
  append(bytes, entries, 2);
  for (std::size_t i = 0; i < entries; ++i) {
    append(bytes, 40'000 + i, 2), append(bytes, 1, 2);
    append(bytes, n, 4), append(bytes, 8 + 2 + 12 * entries + 4, 4);
  }
  append(bytes, 0, 4);
  bytes.insert(bytes.end(), value.begin(), value.end());
  write_tiff(folder, bytes);
}

// A picture, and n tags that libtiff does not know.
void with_unknown_tags(const TempFolder& folder, std::size_t n) {
  Bytes bytes(8 + 12);
  bytes[0] = bytes[1] = std::byte{'I'};
  bytes[2] = std::byte{42}, bytes[4] = std::byte{20};
  const std::pair<unsigned, std::uint64_t> tags[] = {{256, 2}, {257, 2}, {258, 8}, {259, 1}, {262, 1},
                                                     {273, 8}, {277, 1}, {278, 2}, {279, 4}};
  append(bytes, std::size(tags) + n, 2);
  for (const auto& [tag, value] : tags)
    append(bytes, tag, 2), append(bytes, 4, 2), append(bytes, 1, 4), append(bytes, value, 4);
  for (std::size_t i = 0; i < n; ++i)
    append(bytes, 40'000 + i, 2), append(bytes, 4, 2), append(bytes, 1, 4), append(bytes, 0, 4);
  append(bytes, 0, 4);
  write_tiff(folder, bytes);
}

}  // namespace

TEST_CASE("TIFF files take time and memory as they are large") {
  check_inputs(
      "TIFF", {.seconds = 0.5, .megabytes = 64},
      {
          {.name = "n pages",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { with_directories(f, n, 0, 6); },
           .use = decode,
           .refused = Errc::unsupported},
          {.name = "n directories that overlap",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { with_directories(f, n, 399, 4); },
           .use = decode,
           .refused = Errc::corrupt},
          {.name = "n unknown tags",
           .size = 2'000,
           .make = with_unknown_tags,
           .use = decode,
           .refused = Errc::limit_exceeded},
          {.name = "many tags with the same n bytes",
           .size = 200'000,
           .make = with_tags,
           .use = decode,
           .refused = Errc::corrupt},
          pixels("n pixels of PackBits", 300'000, {.compression = COMPRESSION_PACKBITS}),
          pixels("n pixels of LZW, in tiles and planes", 300'000,
                 {.planes = true, .tile = 64, .compression = COMPRESSION_LZW}),
          pixels("n pixels of Deflate", 300'000, {.compression = COMPRESSION_ADOBE_DEFLATE}),
          pixels("n pixels of JPEG", 300'000, {.photometric = PHOTOMETRIC_YCBCR, .compression = COMPRESSION_JPEG}),
      });
}

}  // namespace PENSTOCK_TEST_FILE
