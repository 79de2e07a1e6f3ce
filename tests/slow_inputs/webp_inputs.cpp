// SPDX-License-Identifier: Apache-2.0
// WebP files of many chunks, of many pixels, and of many pixels in few bytes.
#include <cstddef>
#include <string>
#include <utility>

#include <penstock/transforms/decode_webp.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"
#include "transforms/codec/webp/webp_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

void write_webp(const TempFolder& folder, const Bytes& bytes) {
  folder.write("image.webp", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// An image of four rows for each column.
Size size_of(std::size_t pixels) {
  std::int32_t width = 1;
  while (4 * static_cast<std::size_t>(width + 1) * static_cast<std::size_t>(width + 1) <= pixels) ++width;
  return {4 * width, width};
}

void with_pixels(const TempFolder& folder, std::size_t n, const WebpKind& kind) {
  write_webp(folder, webp_file(size_of(n), kind, 1));
}

// n pixels of one colour, of which each costs no bit.
void with_one_color(const TempFolder& folder, std::size_t n) {
  const Size size = size_of(n);
  write_webp(folder, webp_file(Image({size.height, size.width, 4}), {.lossless = true, .alpha = true}));
}

void with_chunks(const TempFolder& folder, std::size_t n) {
  const WebpChunks chunks(n, {"EXIF", {}});
  write_webp(folder, extended(webp_file({16, 16}, {}, 1), chunks, 0x08));
}

void decode(const TempFolder& folder) {
  const std::string text = content_of(folder, "image.webp");
  TestScratch scratch;
  const auto decoding = webp_decoder({.color = WebpOptions::rgba})->start();
  const ImageShape shape = decoding->open(std::as_bytes(std::span(text)));
  decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch);
}

SlowInput pixels(std::string name, std::size_t n, const WebpKind& kind) {
  return {.name = std::move(name),
          .size = n,
          .make = [kind](const TempFolder& f, std::size_t size) { with_pixels(f, size, kind); },
          .use = decode};
}

}  // namespace

TEST_CASE("WebP files take time and memory as they are large") {
  check_inputs("WebP", {.seconds = 0.5, .megabytes = 64},
               {
                   {.name = "n empty chunks of Exif data", .size = 50'000, .make = with_chunks, .use = decode},
                   pixels("n lossy pixels", 500'000, {}),
                   pixels("n lossy pixels with opacity", 400'000, {.alpha = true}),
                   pixels("n lossless pixels", 300'000, {.lossless = true}),
                   {.name = "n pixels of one colour", .size = 1'000'000, .make = with_one_color, .use = decode},
               });
}

}  // namespace PENSTOCK_TEST_FILE
