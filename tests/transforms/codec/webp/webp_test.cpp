// SPDX-License-Identifier: Apache-2.0
// decode_webp: every kind of WebP, parts of images, and the stage in a chain.
#include <cstdlib>
#include <cstring>
#include <string>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_webp.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/webp/webp_files.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

Image decoded(ImageDecoding& decoding, std::span<const std::byte> bytes, bool verify, bool in_place) {
  TestScratch scratch;
  Image image(decoding.open(bytes));
  std::byte* const into = in_place ? reinterpret_cast<std::byte*>(image.pixels.data()) : nullptr;
  const Pixels pixels = decoding.decode({0, 0, image.shape.height, image.shape.width}, verify, into, scratch);
  if (!in_place) return copied(pixels);
  CHECK(reinterpret_cast<const std::byte*>(pixels.data) == into);
  return image;
}

Encoded some_files() {
  Encoded source;
  for (std::uint64_t i = 0; i < 14; ++i)
    source.files.push_back(
        webp_file({50 + static_cast<std::int32_t>(i), 60}, webp_kinds()[i % webp_kinds().size()], i));
  return source;
}

}  // namespace

TEST_CASE("every kind of WebP becomes what libwebp's plain decoder makes of it") {
  std::uint64_t seed = 0;
  for (const WebpKind& kind : webp_kinds())
    for (const Size size : {Size{1, 1}, Size{3, 2}, Size{16, 17}, Size{61, 90}}) {
      const Bytes bytes = webp_file(size, kind, ++seed);
      for (const WebpOptions::Color color : webp_colors) {
        CAPTURE(kind.lossless, kind.alpha, kind.extended, size.height, size.width, int{color});
        const Image expected = plainly_decoded(bytes, color);
        const auto decoding = webp_decoder({.color = color})->start();
        for (const bool verify : {false, true})
          for (const bool in_place : {false, true}) REQUIRE(decoded(*decoding, bytes, verify, in_place) == expected);
      }
    }
}

TEST_CASE("lossless WebPs have the pixels from which they were made") {
  for (const int channels : {3, 4}) {
    const Image pixels = static_noise({37, 41, channels}, 5);
    const Bytes bytes = webp_file(pixels, {.lossless = true, .alpha = channels == 4});
    CHECK(decoded(*webp_decoder({.color = WebpOptions::as_stored})->start(), bytes, false, true) == pixels);
  }
}

TEST_CASE("every part of a WebP is that part of the whole") {
  std::uint64_t seed = 0;
  const auto compare = [&](const WebpKind& kind, Size size) {
    const Bytes bytes = webp_file(size, kind, ++seed);
    const WebpOptions::Color color = webp_colors[seed % std::size(webp_colors)];
    const auto decoding = webp_decoder({.color = color})->start();
    const Image whole = plainly_decoded(bytes, color);
    decoding->open(bytes);
    for (std::int32_t top = 0; top < size.height; ++top)
      for (std::int32_t left = 0; left < size.width; ++left)
        for (std::int32_t height = 1; height <= size.height - top; ++height)
          for (std::int32_t width = 1; width <= size.width - left; ++width) {
            const Box box{top, left, height, width};
            TestScratch scratch;
            const bool same = copied(decoding->decode(box, false, nullptr, scratch)) == cut(whole, box);
            CAPTURE(kind.lossless, kind.alpha, top, left, height, width);
            if (!same) FAIL("another part");
          }
  };
  // Each has an edge between two blocks of 16 x 16 pixels.
  for (const WebpKind& kind : webp_kinds()) compare(kind, {18, 6}), compare(kind, {5, 19});
}

TEST_CASE("parts of larger WebPs, verified or not, are those of the whole") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Numbers numbers(seed);
    const Size size{numbers.from(30, 150), numbers.from(30, 150)};
    const Bytes bytes = webp_file(size, webp_kinds()[seed % webp_kinds().size()], seed);
    const WebpOptions::Color color = webp_colors[numbers.below(4)];
    const auto decoding = webp_decoder({.color = color})->start();
    const Image whole = plainly_decoded(bytes, color);
    decoding->open(bytes);
    for (int n = 0; n < 10; ++n) {
      Box box{0, 0, numbers.from(1, size.height), numbers.from(1, size.width)};
      box.top = numbers.from(0, size.height - box.height), box.left = numbers.from(0, size.width - box.width);
      CAPTURE(seed, n);
      TestScratch scratch;
      REQUIRE(copied(decoding->decode(box, numbers.coin(), nullptr, scratch)) == cut(whole, box));
    }
  }
}

TEST_CASE("the stage makes the same batches folded or not, verified or not, at any number of threads") {
  const Pipeline chain = from(some_files()) | decode_webp() | random_crop("image", {40, 40}) | random_flip("image") |
                         random_resized_crop("image", {24, 28});
  const Pipeline batches = chain | batch(4);
  const Bytes folded = all_bytes(batches);
  CHECK(folded.size() == 14 * 24 * 28 * 3);
  CHECK(all_bytes(chain | check({.fold = false}) | batch(4)) == folded);
  CHECK(all_bytes(chain | check({.verify = true}) | batch(4)) == folded);
  for (const unsigned threads : {1u, 4u}) {
    Bytes made;
    Loader loader(batches, {.threads = threads});
    for (Batch& batch : loader.epoch()) {
      const TensorView images = batch["image"];
      made.insert(made.end(), images.data, images.data + images.bytes());
    }
    CHECK(made == folded);
  }
}

TEST_CASE("options of decode_webp, and the schema and fingerprint that they make") {
  const auto made = [](const WebpOptions& options) { return from(some_files()) | decode_webp("image", options); };
  CHECK(made({}).schema().to_string() == "{image: u8[?, ?, 3]}");
  CHECK(made({.color = WebpOptions::gray}).schema().to_string() == "{image: u8[?, ?, 1]}");
  CHECK(made({.color = WebpOptions::rgba}).schema().to_string() == "{image: u8[?, ?, 4]}");
  CHECK(made({.color = WebpOptions::as_stored}).schema().to_string() == "{image: u8[?, ?, ?]}");
  const auto fingerprint = [&](const WebpOptions& options) {
    return (made(options) | resize("image", {8, 8}) | convert("image")).fingerprint();
  };
  CHECK(fingerprint({}) == fingerprint({}));
  CHECK(fingerprint({}) != fingerprint({.color = WebpOptions::gray}));
  CHECK(fingerprint({}) != fingerprint({.max_pixels = 100}));
  CHECK(code_of([] { webp_decoder({.max_pixels = 0}); }) == Errc::invalid_argument);

  const auto decoding = webp_decoder()->start();
  const Bytes bytes = webp_file({20, 20}, {}, 1);
  for (const Box& box : {Box{0, 0, 21, 5}, Box{0, 16, 5, 5}, Box{-1, 0, 5, 5}, Box{0, 0, 0, 5}}) {
    TestScratch scratch;
    decoding->open(bytes);
    CHECK(code_of([&] { decoding->decode(box, false, nullptr, scratch); }) == Errc::invalid_argument);
  }
  TestScratch scratch;
  CHECK(code_of([&] {
          webp_decoder()->start()->decode({0, 0, 1, 1}, false, nullptr, scratch);
        }) == Errc::invalid_argument);
}

TEST_CASE("WebPs that Pillow writes are what Pillow reads") {
  const char* const python = "/usr/bin/python3";
  if (std::system((std::string(python) + " -c 'from PIL import features; exit(not features.check(\"webp\"))' "
                                         "2>/dev/null")
                      .c_str()) != 0)
    PENSTOCK_SKIP("no Pillow with WebP for /usr/bin/python3: 24 comparisons were not made");
  const TempFolder folder;
  folder.write(
      "make.py",
      "import sys, random\n"
      "from PIL import Image\n"
      "random.seed(3)\n"
      "w, h = 61, 47\n"
      "out = sys.argv[1]\n"
      "for mode, n in [('RGB', 3), ('RGBA', 4)]:\n"
      "    noise = Image.frombytes(mode, (w, h), random.randbytes(w * h * n))\n"
      "    smooth = noise.resize((9, 7)).resize((w, h), Image.Resampling.BICUBIC)\n"
      "    for kind, image, more in [('noise', noise, {'lossless': True, 'exact': True}), ('smooth', smooth, {}),\n"
      "                              ('profile', smooth, {'icc_profile': b'no profile', 'exif': b'Exif\\0\\0II'}),\n"
      "                              ('best', smooth, {'quality': 95, 'method': 6})]:\n"
      "        name = f'{out}/{mode}.{kind}'\n"
      "        image.save(name + '.webp', **more)\n"
      "        read = Image.open(name + '.webp')\n"
      "        for to in ['RGB', 'L', 'RGBA']:\n"
      "            open(f'{name}.{to}', 'wb').write(read.convert(to).tobytes())\n"
      "smooth.save(f'{out}/moving.webp', save_all=True, append_images=[noise], lossless=True)\n");
  REQUIRE(std::system((std::string(python) + " " + (folder / "make.py") + " " + folder.path().string()).c_str()) == 0);
  for (const std::string mode : {"RGB", "RGBA"})
    for (const std::string kind : {"noise", "smooth", "profile", "best"})
      for (const auto& [to, color] : {std::pair{"RGB", WebpOptions::rgb}, std::pair{"L", WebpOptions::gray},
                                      std::pair{"RGBA", WebpOptions::rgba}}) {
        CAPTURE(mode, kind, to);
        const std::string name = folder / (mode + "." + kind), file = text_in(name + ".webp"),
                          theirs = text_in(name + "." + to);
        const Image ours =
            decoded(*webp_decoder({.color = color})->start(), std::as_bytes(std::span(file)), true, true);
        REQUIRE(ours.pixels.size() == theirs.size());
        CHECK(std::memcmp(ours.pixels.data(), theirs.data(), theirs.size()) == 0);
      }
  const std::string moving = text_in(folder / "moving.webp");
  const Error error = error_of([&] { webp_decoder()->start()->open(std::as_bytes(std::span(moving))); });
  CHECK(error.code() == Errc::unsupported);
  CHECK(mentions(error, "animation"));
}

}  // namespace PENSTOCK_TEST_FILE
