// SPDX-License-Identifier: Apache-2.0
// decode_png: every kind of PNG, parts of images, and the stage in a chain.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <penstock/error.hpp>
#include <penstock/extend/bfloat16.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/png/png_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

Image decoded(ImageDecoding& decoding, std::span<const std::byte> bytes, bool verify, bool in_place) {
  TestScratch scratch;
  Image image(decoding.open(bytes));
  std::byte* const into = in_place ? reinterpret_cast<std::byte*>(image.pixels.data()) : nullptr;
  const Pixels pixels = decoding.decode({0, 0, image.shape.height, image.shape.width}, verify, into, scratch);
  if (in_place) {
    CHECK(reinterpret_cast<const std::byte*>(pixels.data) == into);
    return image;
  }
  const std::size_t row = static_cast<std::size_t>(image.shape.width) * image.shape.pixel_bytes();
  for (std::int32_t y = 0; y < image.shape.height; ++y)
    std::memcpy(image.pixels.data() + static_cast<std::size_t>(y) * row, pixels.data + y * pixels.stride, row);
  return image;
}

bool can_be_labels(const PngKind& kind) { return (kind.color == 0 || kind.color == 3) && kind.depth <= 8; }

}  // namespace

TEST_CASE("every kind of PNG becomes what its samples are") {
  std::uint64_t seed = 0;
  for (const PngKind& kind : png_kinds())
    for (const Size size : {Size{1, 1}, Size{3, 2}, Size{9, 17}, Size{40, 33}}) {
      const PngFile file(kind, size, ++seed);
      const Bytes bytes = file.bytes();
      for (const PngOptions::Color color : png_colors) {
        CAPTURE(kind.color, kind.depth, kind.interlaced, kind.transparency, size.height, size.width, int{color});
        const auto decoding = png_decoder({.color = color, .high_byte = true})->start();
        if (color == PngOptions::labels && !can_be_labels(kind)) {
          REQUIRE(code_of([&] { decoding->open(bytes); }) == Errc::unsupported);
          continue;
        }
        const Image expected = file.expected(color);
        for (const bool verify : {false, true})
          for (const bool in_place : {false, true}) REQUIRE(decoded(*decoding, bytes, verify, in_place) == expected);
      }
    }
}

TEST_CASE("a part of a PNG is that part of the whole") {
  std::uint64_t seed = 0;
  for (const PngKind& kind : png_kinds())
    for (int test = 0; test < 6; ++test) {
      Numbers numbers(++seed);
      const Size size{numbers.from(1, 40), numbers.from(1, 40)};
      const PngFile file(kind, size, seed);
      const PngOptions::Color color = png_colors[numbers.below(can_be_labels(kind) ? 5 : 4)];
      const Image whole = file.expected(color);
      Box box{0, 0, numbers.from(1, size.height), numbers.from(1, size.width)};
      box.top = numbers.from(0, size.height - box.height), box.left = numbers.from(0, size.width - box.width);
      CAPTURE(kind.color, kind.depth, kind.interlaced, seed);
      const auto decoding = png_decoder({.color = color, .high_byte = true})->start();
      const Bytes bytes = file.bytes();
      decoding->open(bytes);
      // A second decode of what is open is as good as the first.
      for (const bool verify : {numbers.coin(), numbers.coin()}) {
        TestScratch scratch;
        const Pixels pixels = decoding->decode(box, verify, nullptr, scratch);
        const Image expected = cut(whole, box);
        REQUIRE(pixels.shape == expected.shape);
        for (std::int32_t y = 0; y < box.height; ++y)
          REQUIRE(std::memcmp(pixels.data + y * pixels.stride, expected.view().data + y * expected.view().stride,
                              static_cast<std::size_t>(expected.view().stride)) == 0);
      }
    }
}

TEST_CASE("every kind of PNG becomes 16 bits where these are asked for") {
  std::uint64_t seed = 0;
  for (const PngKind& kind : png_kinds())
    for (const Size size : {Size{1, 1}, Size{9, 17}, Size{40, 33}}) {
      const PngFile file(kind, size, ++seed);
      const Bytes bytes = file.bytes();
      for (const PngOptions::Color color : png_colors) {
        CAPTURE(kind.color, kind.depth, kind.interlaced, kind.transparency, size.height, size.width, int{color});
        const auto decoding = png_decoder({.color = color, .dtype = DType::u16})->start();
        if (color == PngOptions::labels && kind.color != 0 && kind.color != 3) {
          REQUIRE(code_of([&] { decoding->open(bytes); }) == Errc::unsupported);
          continue;
        }
        const Image expected = file.expected(color, DType::u16);
        for (const bool verify : {false, true})
          for (const bool in_place : {false, true}) REQUIRE(decoded(*decoding, bytes, verify, in_place) == expected);
        Numbers numbers(seed);
        for (int test = 0; test < 5; ++test) {
          Box box{0, 0, numbers.from(1, size.height), numbers.from(1, size.width)};
          box.top = numbers.from(0, size.height - box.height), box.left = numbers.from(0, size.width - box.width);
          TestScratch scratch;
          decoding->open(bytes);
          REQUIRE(copied(decoding->decode(box, numbers.coin(), nullptr, scratch)) == cut(expected, box));
        }
      }
    }
}

TEST_CASE("16 bits go through image stages, but no linear filter") {
  Encoded source;
  for (std::uint64_t i = 0; i < 12; ++i)
    source.files.push_back(PngFile({i % 2 == 0 ? 0 : 2, 16, i % 5 == 0}, {30, 36}, i).bytes());
  const PngOptions wide{.color = PngOptions::gray, .dtype = DType::u16};
  const Pipeline start = from(source) | decode_png("image", wide);
  CHECK(start.schema().to_string() == "{image: u16[?, ?, 1]}");
  const auto folded_as_alone = [](const Pipeline& chain) {
    const Bytes folded = all_bytes(chain | batch(4));
    CHECK(all_bytes(chain | check({.fold = false}) | batch(4)) == folded);
    CHECK(all_bytes(chain | check({.verify = true}) | batch(4)) == folded);
    return folded;
  };
  const Pipeline moved = start | random_crop("image", {20, 22}, {.padding = 3, .fill = {40000}}) |
                         random_flip("image") | random_rot90("image") | center_crop("image", {20, 20});
  CHECK(moved.schema().to_string() == "{image: u16[20, 20, 1]}");
  const Bytes whole = folded_as_alone(moved);
  CHECK(whole.size() == 12 * 20 * 20 * 2);
  // Normalised, they are what the formula says: 65535 is 1.
  const Bytes floats = folded_as_alone(moved | normalize("image", {.mean = {0.25}, .std = {0.5}}));
  const Bytes brains =
      folded_as_alone(moved | normalize("image", {.mean = {0.25}, .std = {0.5}, .dtype = DType::bf16}));
  const float scale = static_cast<float>(1 / (65535 * 0.5)), bias = -0.5f;
  for (std::size_t i = 0; i < whole.size() / 2; ++i) {
    std::uint16_t value;
    float made;
    std::memcpy(&value, whole.data() + 2 * i, 2), std::memcpy(&made, floats.data() + 4 * i, 4);
    const float product = static_cast<float>(value) * scale;
    REQUIRE(made == product + bias);
    std::uint16_t bits;
    std::memcpy(&bits, brains.data() + 2 * i, 2);
    REQUIRE(bits == to_bfloat16(made));
  }
  // Planes of colours, and halves.
  const Pipeline colors = from(source) | decode_png("image", {.dtype = DType::u16}) | crop("image", {1, 2, 9, 11});
  folded_as_alone(colors | convert("image", {.dtype = DType::u16, .layout = Layout::chw}));
  folded_as_alone(colors | convert("image", {.dtype = DType::f16, .layout = Layout::chw, .scale = {0.001}}));
  const Pipeline labels =
      from(source) | decode_png("image", wide) | resize(ImageFields{{"image", Filter::nearest}}, {15, 18});
  folded_as_alone(labels);
  for (const Stage& stage : {resize("image", {8, 8}), resize_short("image", 9), random_resized_crop("image", {8, 8})}) {
    const Error error = error_of([&] { static_cast<void>(start | stage); });
    CHECK(error.code() == Errc::schema_mismatch);
    CHECK(std::string(error.what()).find("nearest") != std::string::npos);
  }
  CHECK(code_of([&] { static_cast<void>(start | convert("image", {.dtype = DType::u8})); }) == Errc::schema_mismatch);
  CHECK(code_of([&] {
          static_cast<void>(start | crop("image", {0, 0, 9, 9}) | batch(2) | random_flip("image"));
        }) == Errc::schema_mismatch);
  CHECK(code_of([] { png_decoder({.dtype = DType::f32}); }) == Errc::invalid_argument);
  const auto fingerprint = [](const Pipeline& p) { return (p | crop("image", {0, 0, 9, 9}) | batch(1)).fingerprint(); };
  CHECK(fingerprint(start) != fingerprint(from(source) | decode_png("image", {.color = PngOptions::gray})));
}

TEST_CASE("16 bits are refused unless their upper half is asked for") {
  for (const int color : {0, 2, 4, 6}) {
    const Bytes bytes = PngFile({color, 16}, {4, 4}, 1).bytes();
    const Error error = error_of([&] { png_decoder()->start()->open(bytes); });
    CHECK(error.code() == Errc::unsupported);
    CHECK(error.cause().find("`dtype = u16`") != std::string::npos);
    CHECK_NOTHROW(png_decoder({.high_byte = true})->start()->open(bytes));
  }
}

TEST_CASE("options that can't be") {
  CHECK(code_of([] { png_decoder({.max_pixels = 0}); }) == Errc::invalid_argument);
  const auto decoding = png_decoder()->start();
  const Bytes bytes = PngFile({}, {20, 20}, 1).bytes();
  for (const Box& box : {Box{0, 0, 21, 5}, Box{0, 16, 5, 5}, Box{-1, 0, 5, 5}, Box{0, 0, 0, 5}}) {
    TestScratch scratch;
    decoding->open(bytes);
    CHECK(code_of([&] { decoding->decode(box, false, nullptr, scratch); }) == Errc::invalid_argument);
  }
}

namespace {

// Pictures and palette masks of the same sizes, both encoded.
class Pairs {
 public:
  std::uint64_t size() const { return 20; }
  Schema schema() const { return {{"mask", DType::u8, {dynamic}}, {"image", DType::u8, {dynamic}}}; }
  void read(std::uint64_t i, SampleBuilder& out) const {
    const auto step = static_cast<std::int32_t>(i);
    const Size size{50 + step * 7 % 20, 55 + step * 5 % 20};
    const Bytes image = PngFile({i % 3 == 0 ? 6 : 2, 8, i % 4 == 0}, size, i).bytes(),
                labels = PngFile({3, 2, i % 5 == 0}, size, i + 100).bytes();
    for (const auto& [field, bytes] : {std::pair{"image", image}, std::pair{"mask", labels}}) {
      const auto to = out.emplace<std::uint8_t, 1>(field, {static_cast<std::int64_t>(bytes.size())});
      std::memcpy(to.data(), bytes.data(), bytes.size());
    }
  }
};

}  // namespace

TEST_CASE("an image and its encoded mask give the same bits folded or not, verified or not") {
  // The mask is decoded first, and follows the image's draws.
  const Pipeline chain = from(Pairs{}) | decode_png("mask", {.color = PngOptions::labels}) | decode_png("image") |
                         random_crop({"image", "mask"}, {45, 45}) | random_flip({"image", "mask"}) |
                         random_resized_crop({"image", "mask"}, {24, 28}) | normalize("image");
  CHECK(chain.schema().to_string() == "{mask: u8[24, 28, 1], image: f32[3, 24, 28]}");
  CHECK(chain.plan().find("decode_png(mask) + random_crop(image, mask) + random_flip(image, mask)") !=
        std::string::npos);
  for (std::uint64_t position = 0; position < 20; ++position) {
    const OwnedSample folded = chain.at(position);
    for (const std::uint8_t label : folded["mask"].as<std::uint8_t, 3>()) REQUIRE(label < 4);
    for (const bool fold : {false, true})
      for (const bool verify : {false, true}) {
        const OwnedSample other = (chain | check({.verify = verify, .fold = fold})).at(position);
        for (const char* field : {"image", "mask"})
          REQUIRE(std::memcmp(other[field].data, folded[field].data, folded[field].bytes()) == 0);
      }
  }
}

TEST_CASE("every result option of decode_png changes the fingerprint") {
  const auto fingerprint = [](const PngOptions& options) {
    return (from(Pairs{}) | select_fields({"image"}) | decode_png("image", options) | resize("image", {8, 8}) |
            normalize("image"))
        .fingerprint();
  };
  CHECK(fingerprint({}) != fingerprint({.color = PngOptions::as_stored}));
  CHECK(fingerprint({}) != fingerprint({.high_byte = true}));
  CHECK(fingerprint({}) != fingerprint({.max_pixels = 100}));
}

TEST_CASE("PNGs that Pillow writes are what Pillow reads") {
  const char* const python = "/usr/bin/python3";
  if (std::system((std::string(python) + " -c 'import PIL.Image' 2>/dev/null").c_str()) != 0)
    PENSTOCK_SKIP("no Pillow for /usr/bin/python3: 21 comparisons were not made");
  const TempFolder folder;
  folder.write("make.py",
               "import sys, random\n"
               "from PIL import Image\n"
               "random.seed(3)\n"
               "w, h = 61, 47\n"
               "out = sys.argv[1]\n"
               "for mode in ['1', 'L', 'LA', 'P', 'RGB', 'RGBA', 'P-few']:\n"
               "    n = len(Image.new(mode.split('-')[0], (1, 1)).getbands())\n"
               "    if mode[0] == 'P':\n"
               "        image = Image.new('P', (w, h))\n"
               "        colors = 5 if mode == 'P-few' else 256\n"
               "        image.putpalette([random.randrange(256) for _ in range(3 * colors)])\n"
               "        image.putdata([random.randrange(colors) for _ in range(w * h)])\n"
               "    elif mode == '1':\n"
               "        image = Image.frombytes('1', (w, h), random.randbytes((w + 7) // 8 * h))\n"
               "    else:\n"
               "        image = Image.frombytes(mode, (w, h), random.randbytes(w * h * n))\n"
               "    image.save(f'{out}/{mode}.png')\n"
               "    read = Image.open(f'{out}/{mode}.png')\n"
               "    for to in ['RGB', 'L', 'RGBA']:\n"
               "        open(f'{out}/{mode}.{to}', 'wb').write(read.convert(to).tobytes())\n");
  REQUIRE(std::system((std::string(python) + " " + (folder / "make.py") + " " + folder.path().string()).c_str()) == 0);
  const auto read = [&](const std::string& name) {
    std::string text = text_in(folder / name);
    return text;
  };
  for (const std::string mode : {"1", "L", "LA", "P", "RGB", "RGBA", "P-few"})
    for (const auto& [to, color] :
         {std::pair{"RGB", PngOptions::rgb}, std::pair{"L", PngOptions::gray}, std::pair{"RGBA", PngOptions::rgba}}) {
      CAPTURE(mode, to);
      const std::string file = read(mode + ".png"), theirs = read(mode + "." + to);
      const auto decoding = png_decoder({.color = color})->start();
      const Image ours = decoded(*decoding, std::as_bytes(std::span(file)), true, true);
      REQUIRE(ours.pixels.size() == theirs.size());
      CHECK(std::memcmp(ours.pixels.data(), theirs.data(), theirs.size()) == 0);
    }
}

}  // namespace PENSTOCK_TEST_FILE
