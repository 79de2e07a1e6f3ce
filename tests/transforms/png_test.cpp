// decode_png: every kind of PNG, parts of images, and the stage in a chain.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_png.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/thrown.hpp"
#include "transforms/png_files.hpp"

using namespace penstock;
using namespace penstock_test;

namespace {

constexpr PngOptions::Color colors[] = {PngOptions::rgb, PngOptions::gray, PngOptions::rgba, PngOptions::as_stored,
                                        PngOptions::labels};

Image decoded(ImageDecoding& decoding, std::span<const std::byte> bytes, bool verify, bool in_place) {
  TestScratch scratch;
  Image image(decoding.open(bytes));
  std::byte* const into = in_place ? reinterpret_cast<std::byte*>(image.pixels.data()) : nullptr;
  const Pixels pixels = decoding.decode({0, 0, image.shape.height, image.shape.width}, verify, into, scratch);
  if (in_place) {
    CHECK(reinterpret_cast<const std::byte*>(pixels.data) == into);
    return image;
  }
  const auto row = static_cast<std::size_t>(image.shape.width * image.shape.channels);
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
      for (const PngOptions::Color color : colors) {
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
      const PngOptions::Color color = colors[numbers.below(can_be_labels(kind) ? 5 : 4)];
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

TEST_CASE("16 bits are refused unless their upper half is asked for") {
  for (const int color : {0, 2, 4, 6}) {
    const Bytes bytes = PngFile({color, 16}, {4, 4}, 1).bytes();
    CHECK(code_of([&] { png_decoder()->start()->open(bytes); }) == Errc::unsupported);
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
    std::ifstream file(folder / name, std::ios::binary);
    REQUIRE(file);
    std::string text((std::istreambuf_iterator<char>(file)), {});
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
