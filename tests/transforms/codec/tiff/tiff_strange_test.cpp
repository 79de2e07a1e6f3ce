// SPDX-License-Identifier: Apache-2.0
// TIFFs that libtiff does not write: runs that cross rows, strips that share their bytes, loops, strips that are left
// out.
#include <penstock/transforms/decode_tiff.hpp>

#include <cstdint>
#include <iterator>
#include <optional>
#include <vector>

#include <penstock/error.hpp>

#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "support/thrown.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// A grey image of 8 bits in strips that all have the bytes of `strip`.
struct StrangeTiff {
  std::uint32_t width = 4, height = 4, rows = 4, compression = 32773;
  std::vector<int> strip = {};
  bool loop = false, left_out = false;

  Bytes bytes() const {
    Bytes file;
    const auto number = [&](std::uint64_t value, int size) {
      for (int i = 0; i < size; ++i) file.push_back(static_cast<std::byte>(value >> 8 * i));
    };
    const std::uint32_t strips = (height + rows - 1) / rows;
    const auto stored = static_cast<std::uint32_t>(strip.size());
    const std::uint32_t strip_at = 8, offsets_at = strip_at + stored + stored % 2, sizes_at = offsets_at + 4 * strips;
    const std::uint32_t directory = sizes_at + 4 * strips;
    number(0x002a4949, 4);
    number(directory, 4);
    for (const int byte : strip) number(static_cast<std::uint64_t>(byte), 1);
    if (stored % 2 != 0) number(0, 1);
    for (std::uint32_t i = 0; i < strips; ++i) number(left_out ? 0 : strip_at, 4);
    for (std::uint32_t i = 0; i < strips; ++i) number(left_out ? 0 : stored, 4);
    const std::uint32_t one = strips == 1 ? 1 : 0;
    const std::uint32_t entries[][3] = {
        {256, 1, width}, {257, 1, height},
        {258, 1, 8},     {259, 1, compression},
        {262, 1, 1},     {273, strips, one != 0 ? (left_out ? 0 : strip_at) : offsets_at},
        {278, 1, rows},  {279, strips, one != 0 ? (left_out ? 0 : stored) : sizes_at}};
    number(std::size(entries), 2);
    for (const auto& [tag, count, value] : entries) {
      number(tag, 2);
      number(4, 2);  // 32 bits
      number(count, 4);
      number(value, 4);
    }
    number(loop ? directory : 0, 4);
    return file;
  }
};

Image decoded(const Bytes& file, const Box& box, bool verify, std::optional<std::uint32_t> page = {}) {
  const auto decoding = tiff_decoder({.color = TiffOptions::as_stored, .page = page})->start();
  (void)decoding->open(file);
  TestScratch scratch;
  const Pixels pixels = decoding->decode(box, verify, nullptr, scratch);
  Image image({box.height, box.width, 1});
  for (std::int32_t y = 0; y < box.height; ++y)
    for (std::int32_t x = 0; x < box.width; ++x) image.at(y, x, 0) = pixels.data[y * pixels.stride + x];
  return image;
}

}  // namespace

TEST_CASE("runs of PackBits may cross rows, also in a part of the image") {
  StrangeTiff run, literal;
  run.strip = {0xf1, 7};  // 16 times 7
  literal.strip = {15};
  for (int i = 0; i < 16; ++i) literal.strip.push_back(i);
  for (const StrangeTiff& tiff : {run, literal})
    for (const bool verify : {false, true})
      for (std::int32_t top = 0; top < 4; ++top)
        for (std::int32_t height = 1; height <= 4 - top; ++height) {
          CAPTURE(verify, top, height);
          const Image part = decoded(tiff.bytes(), {top, 1, height, 2}, verify);
          for (std::int32_t y = 0; y < height; ++y)
            for (std::int32_t x = 0; x < 2; ++x)
              REQUIRE(part.at(y, x, 0) == (tiff.strip.size() == 2 ? 7 : (top + y) * 4 + x + 1));
        }
}

TEST_CASE("a strip of far more bytes than pixels is refused, as many strips may share them") {
  StrangeTiff tiff{.width = 1, .height = 500, .rows = 1};
  tiff.strip.assign(4096, 128);  // says nothing
  tiff.strip.insert(tiff.strip.end(), {0, 9});
  CHECK(decoded(tiff.bytes(), {0, 0, 500, 1}, false).pixels == std::vector<std::uint8_t>(500, 9));
  tiff.strip.insert(tiff.strip.begin(), 128);
  const Error error = error_of([&] { (void)decoded(tiff.bytes(), {0, 0, 500, 1}, false); });
  CHECK(error.code() == Errc::limit_exceeded);
  CHECK(mentions(error, "strip or tile 0 of the TIFF has 4099 bytes for 1 bytes of pixels"));
}

TEST_CASE("a list of directories that comes back to one has no further page") {
  StrangeTiff tiff{.loop = true};
  tiff.strip = {0xf1, 7};
  Bytes file = tiff.bytes();
  file.resize(10'000);
  CHECK(decoded(file, {0, 0, 4, 4}, false, 0).pixels == std::vector<std::uint8_t>(16, 7));
  for (const std::uint32_t page : {1u, 5u})
    CHECK(code_of([&] { (void)decoded(file, {0, 0, 4, 4}, false, page); }) == Errc::corrupt);
}

TEST_CASE("a TIFF that leaves out strips is refused by name") {
  StrangeTiff tiff{.left_out = true};
  tiff.strip = {0xf1, 7};
  const Error error = error_of([&] { (void)decoded(tiff.bytes(), {0, 0, 4, 4}, false); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(mentions(error, "leaves out strip or tile 0"));
}

}  // namespace PENSTOCK_TEST_FILE
