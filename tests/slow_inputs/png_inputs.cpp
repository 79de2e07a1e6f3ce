// SPDX-License-Identifier: Apache-2.0
// PNG files whose chunks are many or large: a whole picture, which is decoded, stands after them or between them.
#include <functional>
#include <string>
#include <vector>

#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/encode_png.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/png/png_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using Chunk = PngFile::Chunk;

void write_png(const TempFolder& folder, const PngFile& file) {
  const Bytes bytes = file.bytes();
  folder.write("image.png", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// A small picture with chunks after its header.
void with_chunks(const TempFolder& folder, std::size_t n, const Chunk& chunk) {
  PngFile file({}, {16, 16}, 1);
  file.chunks.insert(file.chunks.begin() + 1, n, chunk);
  write_png(folder, file);
}

// The pixels of a picture, a byte a chunk, with empty ones between them.
void with_split_pixels(const TempFolder& folder, std::size_t n) {
  const auto side = static_cast<std::int32_t>(32);
  PngFile file({}, {side, side}, 1);
  std::vector<Chunk> chunks;
  for (const Chunk& chunk : file.chunks) {
    if (chunk.type != "IDAT") {
      chunks.push_back(chunk);
      continue;
    }
    for (const std::uint8_t byte : chunk.data) chunks.push_back({"IDAT", {byte}});
    chunks.insert(chunks.end(), n, {"IDAT", {}});
  }
  file.chunks = chunks;
  write_png(folder, file);
}

void decode(const TempFolder& folder) {
  const std::string text = content_of(folder, "image.png");
  TestScratch scratch;
  const auto decoding = png_decoder()->start();
  const ImageShape shape = decoding->open(std::as_bytes(std::span(text)));
  decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch);
}

// The bytes of pixels to encode, as a file.
void write_pixels(const TempFolder& folder, std::size_t n, const std::function<int(std::size_t)>& value) {
  std::string bytes(n, '\0');
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>(value(i));
  folder.write("pixels", bytes);
}

// Encodes the file's bytes as an image of `width`; 0: as one row.
void encode(const TempFolder& folder, std::size_t width, const EncodePngOptions& options) {
  const std::string bytes = content_of(folder, "pixels");
  if (width == 0) width = bytes.size();
  encode_png({reinterpret_cast<const std::uint8_t*>(bytes.data()),
              static_cast<std::ptrdiff_t>(width),
              {static_cast<std::int32_t>(bytes.size() / width), static_cast<std::int32_t>(width), 1}},
             options);
}

// Side of a picture of n pixels.
std::int32_t side_of(std::size_t n) {
  std::int32_t side = 1;
  while (static_cast<std::size_t>(side + 1) * static_cast<std::size_t>(side + 1) <= n) ++side;
  return side;
}

}  // namespace

TEST_CASE("PNG files take time and memory as they are large") {
  check_inputs("PNG", {.seconds = 0.5, .megabytes = 64},
               {
                   {.name = "n empty text chunks",
                    .size = 50'000,
                    .make =
                        [](const TempFolder& f, std::size_t n) {
                          with_chunks(f, n, {"tEXt", {}});
                        },
                    .use = decode},
                   {.name = "n compressed texts that are none",
                    .size = 30'000,
                    .make =
                        [](const TempFolder& f, std::size_t n) {
                          with_chunks(f, n, {"zTXt", {'a', 0, 0, 1, 2, 3}});
                        },
                    .use = decode},
                   {.name = "an animation: n frames' controls",
                    .size = 30'000,
                    .make =
                        [](const TempFolder& f, std::size_t n) {
                          with_chunks(f, n, {"fcTL", std::vector<std::uint8_t>(26)});
                        },
                    .use = decode},
                   {.name = "an animation: n frames' data",
                    .size = 30'000,
                    .make =
                        [](const TempFolder& f, std::size_t n) {
                          with_chunks(f, n, {"fdAT", std::vector<std::uint8_t>(5)});
                        },
                    .use = decode},
                   {.name = "n empty chunks of pixels", .size = 50'000, .make = with_split_pixels, .use = decode},
                   // As many that also n pixels do not fit into the processor's caches.
                   {.name = "n pixels",
                    .size = 1'000'000,
                    .make =
                        [](const TempFolder& f, std::size_t n) {
                          write_png(f, PngFile({}, {side_of(n), side_of(n)}, 1));
                        },
                    .use = decode},
                   {.name = "n interlaced pixels",
                    .size = 600'000,
                    .make =
                        [](const TempFolder& f, std::size_t n) {
                          write_png(f, PngFile({.interlaced = true}, {side_of(n), side_of(n)}, 1));
                        },
                    .use = decode},
                   {.name = "n rows of one pixel",
                    .size = 100'000,
                    .make =
                        [](const TempFolder& f, std::size_t n) {
                          write_png(f, PngFile({}, {static_cast<std::int32_t>(n), 1}, 1));
                        },
                    .use = decode},
               });
}

TEST_CASE("images become PNGs in time and memory as they are large") {
  const auto noise = [](const TempFolder& f, std::size_t n) {
    Numbers numbers(1);
    write_pixels(f, n, [&](std::size_t) { return numbers.below(256); });
  };
  const auto two_values = [](const TempFolder& f, std::size_t n) {
    Numbers numbers(1);
    write_pixels(f, n, [&](std::size_t) { return numbers.below(2); });
  };
  const auto zeros = [](const TempFolder& f, std::size_t n) { write_pixels(f, n, [](std::size_t) { return 0; }); };
  const auto period = [](const TempFolder& f, std::size_t n) {
    write_pixels(f, n, [](std::size_t i) { return static_cast<int>(i % 3 == 0 ? i % 7 : 0); });
  };
  const auto as = [](std::size_t width, EncodePngOptions::Effort effort) {
    return [=](const TempFolder& f) { encode(f, width, {effort}); };
  };
  constexpr auto fast = EncodePngOptions::fast, normal = EncodePngOptions::normal, small = EncodePngOptions::small;
  check_inputs("PNG, encoded", {.seconds = 3, .megabytes = 64},
               {
                   {.name = "noise", .size = 1'000'000, .make = noise, .use = as(1000, normal)},
                   {.name = "noise in one row", .size = 1'000'000, .make = noise, .use = as(0, normal)},
                   {.name = "noise in rows of one pixel", .size = 250'000, .make = noise, .use = as(1, normal)},
                   {.name = "noise, small", .size = 500'000, .make = noise, .use = as(1000, small)},
                   {.name = "two values", .size = 500'000, .make = two_values, .use = as(500, normal)},
                   {.name = "two values, fast", .size = 1'000'000, .make = two_values, .use = as(500, fast)},
                   {.name = "two values, small", .size = 250'000, .make = two_values, .use = as(500, small)},
                   {.name = "one value", .size = 2'000'000, .make = zeros, .use = as(1000, normal)},
                   {.name = "one value, small", .size = 500'000, .make = zeros, .use = as(1000, small)},
                   {.name = "a short period", .size = 1'000'000, .make = period, .use = as(1001, normal)},
                   {.name = "a short period, small", .size = 500'000, .make = period, .use = as(1001, small)},
               });
}

}  // namespace PENSTOCK_TEST_FILE
