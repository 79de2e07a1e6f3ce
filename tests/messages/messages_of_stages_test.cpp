// SPDX-License-Identifier: Apache-2.0
// What the user reads where values of 16 bits, or masks of other numbers, stand where others are wanted: each line says
// what to do, and what becomes of the values.
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/memory.hpp>
#include <penstock/sources/slide.hpp>
#include <penstock/transforms/decode_image.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/encode_jpeg.hpp>
#include <penstock/transforms/image.hpp>
#include <penstock/transforms/numeric.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/png/png_files.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

// Two records with a field `mask` of 8 x 8 values, as of HDF5 or NumPy, with `channels` behind them where there are
// any.
template <class T>
Pipeline masks(std::int64_t channels) {
  std::vector<std::int64_t> dims{8, 8};
  if (channels != 0) dims.push_back(channels);
  const Shape shape{std::span<const std::int64_t>(dims)};
  Memory memory;
  memory.add<T>("mask", shape, std::vector<T>(2 * static_cast<std::size_t>(shape.elements()), static_cast<T>(7)));
  return from(memory);
}

struct Case {
  const char* name;
  std::function<void()> act;
  std::string says;
};

void check_lines(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const Error error = error_of(c.act);
    CAPTURE(c.name, error.what());
    CHECK(error.cause() == c.says);
  }
}

}  // namespace

TEST_CASE("messages: 16 bits of a PNG where 8 are wanted") {
  const auto opened = [](int color, const PngOptions& options) {
    return [=] { png_decoder(options)->start()->open(PngFile({color, 16}, {4, 4}, 1).bytes()); };
  };
  const std::string image =
      "a PNG of 16 bits does not fit into 8; `dtype = u16` keeps its values, `high_byte = true` the upper half of "
      "each; "
      "where it is a mask, `color = labels` with `dtype = u16` reads it";
  check_lines({
      {"grey", opened(0, {.color = PngOptions::gray}), image},
      {"colours", opened(2, {}), image},
      {"as stored", opened(0, {.color = PngOptions::as_stored}), image},
      {"labels", opened(0, {.color = PngOptions::labels}),
       "the PNG has labels of 16 bits, which do not fit into 8; `dtype = u16` keeps them as they are"},
      {"any image",
       [] {
         any_image_decoder()->start()->open(PngFile({0, 16}, {4, 4}, 1).bytes());
       },
       image},
      {"a GIF",
       [] {
         const char gif[] = "GIF89a\1\0";
         any_image_decoder()->start()->open(std::as_bytes(std::span(gif, 8)));
       },
       "the data begins with 0x47 0x49 0x46 0x38 0x39 0x61 0x01 0x00 (GIF), which is none of JPEG, PNG, WebP and TIFF; "
       "make PNGs of such files, which keep 8 and 16 bits"},
  });
}

TEST_CASE("messages: fields of other numbers where an image is wanted") {
  const std::string takes = ", but image stages take u8[H, W, C] or u16[H, W, C]; ";
  const std::string whole =
      "cast(\"mask\", DType::u8) before it keeps 0 to 255, DType::u16 0 to 65535, and makes a sample with other values "
      "a bad one";
  check_lines({
      {"whole numbers",
       [] {
         (void)(masks<std::int32_t>(1) | crop("mask", {0, 0, 4, 4}));
       },
       "field \"mask\" is i32[8, 8, 1]" + takes + whole},
      {"whole numbers without a channel",
       [] {
         (void)(masks<std::int64_t>(0) | crop("mask", {0, 0, 4, 4}));
       },
       "field \"mask\" is i64[8, 8]" + takes + whole},
      {"no channel", [] { (void)(masks<std::uint16_t>(0) | random_flip("mask")); },
       "field \"mask\" is u16[8, 8]" + takes +
           "a map before it gives it a channel, [H, W, 1], if it is a mask; encoded bytes are decoded"},
      {"true and false", [] { (void)(masks<std::uint8_t>(1) | cast("mask", DType::boolean) | random_flip("mask")); },
       "field \"mask\" is bool[8, 8, 1]" + takes + "cast(\"mask\", DType::u8) before it makes 0 and 1 of it"},
      {"floats", [] { (void)(masks<float>(3) | random_flip("mask")); },
       "field \"mask\" is f32[8, 8, 3]" + takes + "decode before it, convert or normalise after it"},
      {"a resize",
       [] {
         (void)(masks<std::uint16_t>(1) | resize("mask", {4, 4}));
       },
       "field \"mask\" is u16[8, 8, 1], but values of 16 bits are resampled by nearest only: crop it to size, name it "
       "with Filter::nearest, or decode it to 8 bits"},
      {"after batch", [] { (void)(masks<std::uint16_t>(1) | batch(2) | random_flip("mask")); },
       "field \"mask\" is u16[8, 8, 1], but image stages take u8[H, W, C] after batch; put the stage before batch, "
       "where values of 16 bits stay as they are, or decode it to 8 bits"},
      {"to 8 bits", [] { (void)(masks<std::uint16_t>(1) | convert("mask", {.dtype = DType::u8})); },
       "convert to u8 takes an image of that type, and it is u16: decode it to 8 bits (`high_byte = true` keeps the "
       "upper half of each value), or cast it before, which keeps values of 0 to 255 alone"},
      {"to 16 bits", [] { (void)(masks<std::uint8_t>(1) | convert("mask", {.dtype = DType::u16})); },
       "convert to u16 takes an image of that type, and it is u8: decode it with `dtype = u16`, or cast it before"},
      {"a JPEG", [] { (void)(masks<std::uint16_t>(1) | encode_jpeg("mask")); },
       "field \"mask\" is u16[8, 8, 1], but encode_jpeg takes u8 images of 1 or 3 channels; encode_png keeps 16 bits, "
       "and cast(\"mask\", DType::u8) before it values of 0 to 255 alone"},
      {"a JPEG of other numbers", [] { (void)(masks<std::int32_t>(1) | encode_jpeg("mask")); },
       "field \"mask\" is i32[8, 8, 1], but encode_jpeg takes images, u8[H, W, C] or u16[H, W, C]; " + whole},
      {"colours", [] { (void)(masks<std::uint16_t>(3) | color_jitter("mask", {.hue = 0.1})); },
       "field \"mask\" is u16[8, 8, 3], but the callable takes a View<u8, 3>; cast(\"mask\", DType::u8) before it "
       "converts the values, and one that u8 does not have makes its sample a bad one; the fields are {mask: u16[8, 8, "
       "3]}"},
      {"stains",
       [] {
         Memory memory;
         memory.add<std::uint16_t>("image", {8, 8, 3}, std::vector<std::uint16_t>(192));
         memory.add<float>("stain", {8}, std::vector<float>(8));
         (void)(from(memory) | normalize_stain("image"));
       },
       "it takes images u8 [H, W, 3]; field \"image\" is u16[8, 8, 3]; decode it to 8 bits, with `high_byte = true`"},
      {"a value that does not fit",
       [] {
         Memory memory;
         memory.add<std::uint16_t>("mask", {1}, std::vector<std::uint16_t>{300});
         (void)(from(memory) | cast("mask", DType::u8)).at(0);
       },
       "element 0 of [1] is 300, which u8 does not have"},
  });
}

TEST_CASE("messages: what they advise works") {
  CHECK_NOTHROW((void)(masks<std::int32_t>(1) | cast("mask", DType::u16) | crop("mask", {0, 0, 4, 4})).at(0));
  CHECK_NOTHROW((void)(masks<std::uint8_t>(1) | cast("mask", DType::boolean) | cast("mask", DType::u8) |
                       crop("mask", {0, 0, 4, 4}))
                    .at(0));
  const auto add_channel = [](View<const std::uint16_t, 2> in, View<std::uint16_t, 3> out) {
    std::memcpy(out.data(), in.data(), 8 * 8 * sizeof(std::uint16_t));
  };
  CHECK_NOTHROW((void)(masks<std::uint16_t>(0) |
                       map("mask", add_channel, {.name = "add_channel", .shape = Shape{8, 8, 1}, .version = 1}) |
                       crop("mask", {0, 0, 4, 4}))
                    .at(0));
}

TEST_CASE("messages: a picture of regions with values of 16 bits") {
  const TempFolder folder;
  write_slide(folder / "a.svs");
  const Bytes png = PngFile({0, 16}, {4, 4}, 1).bytes();
  folder.write("regions/a.png", {reinterpret_cast<const char*>(png.data()), png.size()});
  const SlideSource source(
      {.files = folder / "a.svs", .size = 64, .regions = {.folder = folder / "regions", .field = "region"}});
  REQUIRE(source.slides()[0].failure);
  CHECK(
      source.slides()[0].failure->cause() ==
      "the picture has values of 16 bits, and one of regions has classes 1 to 255: save it with 8 bits, each class as "
      "its number");
}
