// SPDX-License-Identifier: Apache-2.0
// PNG files whose chunks are many or large: a whole picture, which is decoded, stands after them or between them.
#include <string>
#include <vector>

#include <penstock/transforms/decode_png.hpp>

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

}  // namespace PENSTOCK_TEST_FILE
