// SPDX-License-Identifier: Apache-2.0
// JPEGs of many small segments, stray bytes, and tables; and such as declare more pixels or scans than they have bytes
// for.
#include <span>
#include <string>
#include <string_view>

#include <penstock/transforms/decode_jpeg.hpp>
#include <penstock/transforms/seekable_jpeg.hpp>

#include "slow_inputs/slow_inputs.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/jpeg/jpeg_files.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;
using namespace std::string_literals;

namespace {

// Segments whose data is: nothing; a stray byte after them; ...
const std::string empty_segment = "\xff\xe1\0\2"s, stray_byte = empty_segment + '\0';

void write_jpeg(const TempFolder& folder, const Bytes& bytes) {
  folder.write("image.jpg", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// A small picture with `text` after its first marker, or a file that has nothing else.
void with_text(const TempFolder& folder, const std::string& text) {
  write_jpeg(folder, with_inserted(plain_encode(photo({40, 50, 3}), {}), 2, text));
}
void text_alone(const TempFolder& folder, const std::string& text) { folder.write("image.jpg", "\xff\xd8" + text); }

// A small picture with `text`, whose colours Adobe's marker tells, with no other word of them before.
void in_rgb(const TempFolder& folder, const std::string& text) {
  const Bytes bytes = plain_encode(photo({40, 50, 3}), {.colors = PlainJpeg::rgb, .jfif = false, .adobe = true});
  write_jpeg(folder, with_inserted(bytes, 2, text));
}

void decode_with(const TempFolder& folder, const JpegOptions& options) {
  const std::string text = content_of(folder, "image.jpg");
  (void)decoded(std::as_bytes(std::span(text)), options);
}
void decode(const TempFolder& folder) { decode_with(folder, {}); }
void decode_upright(const TempFolder& folder) { decode_with(folder, {.apply_orientation = true}); }
void rewrite(const TempFolder& folder) {
  const std::string text = content_of(folder, "image.jpg");
  (void)seekable_jpeg(std::as_bytes(std::span(text)));
}

std::int32_t side_of(std::size_t pixels) {
  std::int32_t side = 8;
  while (static_cast<std::size_t>(side) * static_cast<std::size_t>(side) < pixels) side += 8;
  return side;
}

std::string two_bytes(std::size_t n) { return {static_cast<char>(n >> 8 & 0xff), static_cast<char>(n & 0xff)}; }

// A blank picture, which takes a few bytes whatever its size is.
void arithmetic(const TempFolder& folder, std::size_t pixels) {
  const std::int32_t side = side_of(pixels);
  write_jpeg(folder, plain_encode(Image({side, side, 1}), {.arithmetic = true}));
}

// A grey picture of 2^14 blocks or more in `scans` scans, as short as they can be: a bit for the first coefficient of a
// block, then one code for up to 2^15 - 1 blocks in which another one is 0.
std::string in_scans(std::int32_t side, int scans) {
  const auto blocks = static_cast<std::size_t>(side / 8) * static_cast<std::size_t>(side / 8);
  const auto scan = [](int first, int last, const std::string& data) {
    return "\xff\xda\0\x08\1\1\0"s + static_cast<char>(first) + static_cast<char>(last) + '\0' + data;
  };
  // One code of one bit: "no difference", or "2^14 blocks end, and as many as the next 14 bits say".
  const auto table = [](char kind, char symbol) {
    return "\xff\xc4\0\x14"s + kind + '\1' + std::string(15, '\0') + symbol;
  };
  std::string runs;
  unsigned bits = 0;
  int held = 0;
  const auto put = [&](unsigned value, int count) {
    for (int i = count - 1; i >= 0; --i) {
      bits = bits << 1 | (value >> i & 1), ++held;
      if (held < 8) continue;
      runs += static_cast<char>(bits);
      if (runs.back() == '\xff') runs += '\0';
      bits = 0, held = 0;
    }
  };
  constexpr std::size_t least_run = 1 << 14, most_run = 2 * least_run - 1;
  std::size_t left = blocks;
  for (std::size_t i = (blocks + most_run - 1) / most_run; i > 0; --i) {
    const std::size_t run = left / i;
    put(0, 1);
    put(static_cast<unsigned>(run - least_run), 14);
    left -= run;
  }
  put(0x7f, 7);
  std::string text = "\xff\xd8\xff\xdb\0\x43\0"s + std::string(64, '\1') + "\xff\xc2\0\x0b\x08"s +
                     two_bytes(static_cast<std::size_t>(side)) + two_bytes(static_cast<std::size_t>(side)) +
                     "\1\1\x11\0"s + table(0, 0) + table(0x10, '\xe0');
  text += scan(0, 0, std::string((blocks + 7) / 8, '\0'));
  for (int i = 1; i < scans; ++i) text += scan(i, i, runs);
  return text + "\xff\xd9";
}

}  // namespace

TEST_CASE("JPEGs of many segments take time and memory as they are large") {
  check_inputs(
      "JPEG", {.seconds = 1, .megabytes = 64},
      {
          {.name = "n stray bytes, each after a segment",
           .size = 10'000,
           .make = [](const TempFolder& f, std::size_t n) { with_text(f, times(n, stray_byte)); },
           .use = decode},
          {.name = "n stray bytes, and no picture",
           .size = 10'000,
           .make = [](const TempFolder& f, std::size_t n) { text_alone(f, times(n, stray_byte)); },
           .use = decode_upright,
           .refused = Errc::corrupt},
          {.name = "n stray bytes, no word of colours before them",
           .size = 10'000,
           .make = [](const TempFolder& f, std::size_t n) { in_rgb(f, times(n, stray_byte)); },
           .use = decode_upright},
          {.name = "n stray bytes after n bytes FF",
           .size = 10'000,
           .make =
               [](const TempFolder& f, std::size_t n) {
                 in_rgb(f, "\xff\xe2\0\x08zzJFIF"s + std::string(n, '\xff') + "\xe1\0\2"s + times(n, stray_byte));
               },
           .use = decode_upright},
          {.name = "n empty segments, rewritten",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { with_text(f, times(n, empty_segment)); },
           .use = rewrite},
          {.name = "n empty profiles, rewritten",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { with_text(f, times(n, "\xff\xe2\0\x0eICC_PROFILE\0"s)); },
           .use = rewrite},
          {.name = "n empty segments, set upright",
           .size = 20'000,
           .make = [](const TempFolder& f, std::size_t n) { with_text(f, times(n, empty_segment)); },
           .use = decode_upright},
          {.name = "n tables",
           .size = 2'000,
           .make = [](const TempFolder& f,
                      std::size_t n) { with_text(f, times(n, "\xff\xc4\0\x13\0"s + std::string(16, '\0'))); },
           .use = decode},
          {.name = "n bytes FF",
           .size = 500'000,
           .make = [](const TempFolder& f, std::size_t n) { with_text(f, std::string(n, '\xff') + "\xe1\0\2"s); },
           .use = decode},
      });
}

TEST_CASE("JPEGs of few bytes a pixel are refused before they cost much") {
  check_inputs("JPEG", {.seconds = 3.5, .megabytes = 600},
               {
                   {.name = "arithmetic coding of n pixels, rewritten",
                    .size = 1 << 24,
                    .make = arithmetic,
                    .use = rewrite,
                    .refused = Errc::limit_exceeded},
                   {.name = "64 scans of n pixels",
                    .size = 1 << 26,
                    .make = [](const TempFolder& f, std::size_t n) { f.write("image.jpg", in_scans(side_of(n), 64)); },
                    .use = decode,
                    .refused = Errc::limit_exceeded},
               });
}

}  // namespace PENSTOCK_TEST_FILE
