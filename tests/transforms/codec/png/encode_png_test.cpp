// SPDX-License-Identifier: Apache-2.0
// encode_png: files that give their pixels back, the same bytes however the pixels lie, and the stage.
#include <cstring>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/encode_png.hpp>
#include <penstock/transforms/image.hpp>

#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/png/png_files.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr EncodePngOptions::Effort efforts[] = {EncodePngOptions::fast, EncodePngOptions::normal,
                                                EncodePngOptions::small};

Image decoded(std::span<const std::byte> bytes, const PngOptions& options) {
  const auto decoding = png_decoder(options)->start();
  const ImageShape shape = decoding->open(bytes);
  TestScratch scratch;
  return copied(decoding->decode({0, 0, shape.height, shape.width}, true, nullptr, scratch));
}

const std::vector<ImageShape>& shapes() {
  static const std::vector<ImageShape> all = [] {
    std::vector<ImageShape> made;
    for (const DType element : {DType::u8, DType::u16})
      for (std::int32_t channels = 1; channels <= 4; ++channels)
        for (const Size size : {Size{1, 1}, Size{3, 2}, Size{9, 17}, Size{40, 33}, Size{1, 300}, Size{257, 1}})
          made.push_back({size.height, size.width, channels, element});
    return made;
  }();
  return all;
}

std::uint32_t byte_at(const Bytes& bytes, std::size_t at) { return std::to_integer<std::uint32_t>(bytes.at(at)); }

// Gives no more memory, or takes no more bytes, after so many calls.
class LittleMemory final : public Scratch {
 public:
  explicit LittleMemory(int allocations) : left_(allocations) {}
  std::byte* allocate(std::size_t bytes) override {
    if (left_-- == 0) throw Error(Errc::out_of_memory, "no more");
    return memory_.allocate(bytes);
  }

 private:
  TestScratch memory_;
  int left_;
};
class ShortFile final : public EncodedFile {
 public:
  explicit ShortFile(int appends) : left_(appends) {}
  void append(std::span<const std::byte> more) override {
    if (left_-- == 0) throw Error(Errc::limit_exceeded, "no more");
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  Bytes bytes;

 private:
  int left_;
};

}  // namespace

TEST_CASE("a PNG of 8 or 16 bits and 1 to 4 channels gives its pixels back") {
  std::uint64_t seed = 0;
  for (const ImageShape& shape : shapes()) {
    const Image image = static_noise(shape, ++seed);
    CAPTURE(shape.height, shape.width, shape.channels, shape.element == DType::u16);
    const Bytes bytes = encode_png(image.view());
    CHECK(decoded(bytes, {.color = PngOptions::as_stored, .dtype = shape.element}) == image);
    if (shape.channels == 1) CHECK(decoded(bytes, {.color = PngOptions::labels, .dtype = shape.element}) == image);
    // Width, height, depth, colour type, and no interlacing, where the standard has them.
    constexpr std::uint32_t types[] = {0, 4, 2, 6};
    CHECK(byte_at(bytes, 18) * 256 + byte_at(bytes, 19) == static_cast<std::uint32_t>(shape.width));
    CHECK(byte_at(bytes, 22) * 256 + byte_at(bytes, 23) == static_cast<std::uint32_t>(shape.height));
    CHECK(byte_at(bytes, 24) == (shape.element == DType::u16 ? 16 : 8));
    CHECK(byte_at(bytes, 25) == types[shape.channels - 1]);
    CHECK(byte_at(bytes, 28) == 0);
  }
}

TEST_CASE("the same pixels make the same PNG, however they lie") {
  for (const ImageShape& shape : shapes()) {
    const ImageShape around{shape.height + 3, shape.width + 5, shape.channels, shape.element};
    const Image large = static_noise(around, 7);
    const Box box{2, 3, shape.height, shape.width};
    const Image image = cut(large, box);
    const Bytes bytes = encode_png(image.view());
    CHECK(encode_png(large.view(box)) == bytes);
    CHECK(encoded_bytes(*png_encoder(), image.view()) == bytes);
    // At an odd address.
    std::vector<std::uint8_t> moved(image.pixels.size() + 1);
    std::memcpy(moved.data() + 1, image.pixels.data(), image.pixels.size());
    CHECK(encode_png({moved.data() + 1, image.view().stride, shape}) == bytes);
  }
}

TEST_CASE("effort changes a PNG's size alone") {
  for (const ImageShape& shape : shapes()) {
    const Image image = photo(shape, 1, 3);
    CAPTURE(shape.height, shape.width, shape.channels, shape.element == DType::u16);
    for (const auto effort : efforts)
      CHECK(decoded(encode_png(image.view(), {.effort = effort}),
                    {.color = PngOptions::as_stored, .dtype = shape.element}) == image);
    CHECK(encode_png(image.view()) == encode_png(image.view(), {.effort = EncodePngOptions::normal}));
  }
}

TEST_CASE("encode_png refuses what is no image, and options that are none") {
  const Image image = photo({8, 9, 3});
  const auto none = static_cast<EncodePngOptions::Effort>(3);
  CHECK(code_of([&] { encode_png(image.view(), {.effort = none}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { png_encoder({.effort = none}); }) == Errc::invalid_argument);
  CHECK(code_of([&] { encode_png("image", {.effort = none}); }) == Errc::invalid_argument);
  const auto of = [&](const ImageShape& shape) {
    return code_of([&] { encode_png({image.pixels.data(), 10, shape}); });
  };
  CHECK(of({0, 3, 3}) == Errc::invalid_argument);
  CHECK(of({3, 0, 3}) == Errc::invalid_argument);
  CHECK(of({3, 3, 5}) == Errc::invalid_argument);
  CHECK(of({3, 3, 0}) == Errc::invalid_argument);
  CHECK(of({3, 3, 3, DType::f32}) == Errc::invalid_argument);
  CHECK(code_of([] { encode_png({nullptr, 10, {3, 3, 3}}); }) == Errc::invalid_argument);
}

TEST_CASE("a PNG that can't be finished is the error of what ended it") {
  const Image image = static_noise({200, 200, 4, DType::u16}, 3);
  const auto encoder = png_encoder();
  const Bytes whole = encode_png(image.view());
  int memory = 0, appends = 0;
  for (bool done = false; !done; ++memory) {
    LittleMemory scratch(memory);
    ShortFile file(-1);
    try {
      encoder->encode(image.view(), file, scratch);
      done = file.bytes == whole;
      REQUIRE(done);
    } catch (const Error& error) {
      REQUIRE(error.code() == Errc::out_of_memory);
    }
  }
  for (bool done = false; !done; ++appends) {
    TestScratch scratch;
    ShortFile file(appends);
    try {
      encoder->encode(image.view(), file, scratch);
      done = file.bytes == whole;
      REQUIRE(done);
    } catch (const Error& error) {
      REQUIRE(error.code() == Errc::limit_exceeded);
    }
  }
  CHECK(memory > 3);
  CHECK(appends > 12);
}

TEST_CASE("the stage encode_png makes what the function makes, of images, of parts, and of labels") {
  Encoded files;
  std::vector<Image> images;
  for (int i = 0; i < 12; ++i) {
    const PngKind kind{.color = i % 2 == 0 ? 2 : 6, .depth = i % 3 == 0 ? 16 : 8};
    const PngFile file(kind, {20 + i, 40 - i}, static_cast<std::uint64_t>(i));
    files.files.push_back(file.bytes());
    images.push_back(file.expected(PngOptions::as_stored, DType::u16));
  }
  const Pipeline decode = from(files) | decode_png("image", {.color = PngOptions::as_stored, .dtype = DType::u16});
  const Pipeline made = decode | encode_png("image", {.effort = EncodePngOptions::fast}),
                 part = decode | crop("image", {2, 3, 10, 11}) | encode_png("image", {.out = "part"});
  CHECK(made.schema().to_string() == "{image: u8[?]}");
  CHECK(part.schema().to_string() == "{image: u16[10, 11, ?], part: u8[?]}");
  CHECK(made.plan().find("decode_png(image) + encode_png(image): one operation; effort fast -> image: u8[?]\n") !=
        std::string::npos);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto bytes = [](const OwnedSample& sample, std::string_view field) {
      return Bytes(sample[field].data, sample[field].data + sample[field].bytes());
    };
    CHECK(bytes(made.at(i), "image") == encode_png(images[i].view(), {.effort = EncodePngOptions::fast}));
    CHECK(bytes(part.at(i), "part") == encode_png(images[i].view({2, 3, 10, 11})));
  }
  const PngFile mask({.color = 3, .depth = 4}, {30, 40}, 5);
  const Encoded masks{{mask.bytes()}};
  const Pipeline labels = from(masks) | decode_png("image", {.color = PngOptions::labels}) | encode_png() |
                          decode_png("image", {.color = PngOptions::labels});
  const OwnedSample sample = labels.at(0);
  const Image expected = mask.expected(PngOptions::labels);
  REQUIRE(sample["image"].bytes() == expected.pixels.size());
  CHECK(std::memcmp(sample["image"].data, expected.pixels.data(), expected.pixels.size()) == 0);
  const Pipeline decoded_u8 = from(masks) | decode_png();
  CHECK(code_of([&] { decoded_u8 | normalize("image") | encode_png(); }) == Errc::schema_mismatch);
  CHECK(code_of([&] { from(masks) | encode_png(); }) == Errc::schema_mismatch);
}
