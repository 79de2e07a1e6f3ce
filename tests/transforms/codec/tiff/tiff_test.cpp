// SPDX-License-Identifier: Apache-2.0
// decode_tiff: every kind of TIFF, parts of images, pages, orientations, and the stage in a chain.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include <penstock/error.hpp>
#include <penstock/penstock.hpp>
#include <penstock/transforms/decode_tiff.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/temp_folder.hpp"
#include "support/catch.hpp"
#include "support/text_in.hpp"
#include "support/thrown.hpp"
#include "transforms/codec/encoded.hpp"
#include "transforms/codec/followed.hpp"
#include "transforms/codec/tiff/tiff_files.hpp"

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

Image decoded(const Bytes& bytes, const TiffOptions& options) {
  return decoded(*tiff_decoder(options)->start(), bytes, false, true);
}

bool can_be_labels(const TiffKind& kind) { return kind.photometric != PHOTOMETRIC_RGB && kind.extra < 0; }

TiffKind jpeg_kind(bool color, std::int32_t tile) {
  return {
      .photometric = color ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_MINISBLACK, .tile = tile, .compression = COMPRESSION_JPEG};
}

Encoded some_files() {
  Encoded source;
  const std::vector<TiffKind> kinds = tiff_kinds();
  for (std::uint64_t i = 0; i < 16; ++i) {
    TiffKind kind = kinds[i * 9 % kinds.size()];
    if (kind.bits == 16) kind.bits = 8;
    source.files.push_back(TiffFile(kind, {50 + static_cast<std::int32_t>(i), 60}, i).bytes());
  }
  return source;
}

}  // namespace

TEST_CASE("every kind of TIFF becomes what its samples are") {
  std::uint64_t seed = 0;
  for (const TiffKind& kind : tiff_kinds())
    for (const Size size : {Size{1, 1}, Size{37, 21}}) {
      const TiffFile file(kind, size, ++seed);
      const Bytes bytes = file.bytes();
      for (const TiffOptions::Color color : tiff_colors)
        for (const DType dtype : {DType::u8, DType::u16}) {
          CAPTURE(kind.photometric, kind.bits, kind.extra, kind.planes, kind.tile, kind.compression, kind.mode,
                  kind.predictor, size.height, size.width, int{color}, int(dtype));
          const auto decoding = tiff_decoder({.color = color, .dtype = dtype, .high_byte = true})->start();
          if (color == TiffOptions::labels && (!can_be_labels(kind) || (kind.bits == 16 && dtype == DType::u8))) {
            REQUIRE(code_of([&] { decoding->open(bytes); }) == Errc::unsupported);
            continue;
          }
          const Image expected = file.expected(color, dtype);
          for (const bool verify : {false, true})
            for (const bool in_place : {false, true}) REQUIRE(decoded(*decoding, bytes, verify, in_place) == expected);
        }
    }
}

TEST_CASE("every part of a TIFF is that part of the whole") {
  std::vector<TiffKind> kinds{{}, {.tile = 16}};
  kinds.push_back({.photometric = PHOTOMETRIC_MINISWHITE, .bits = 4, .compression = COMPRESSION_LZW});
  kinds.push_back({.photometric = PHOTOMETRIC_PALETTE, .bits = 1, .tile = 16});
  kinds.push_back({.bits = 16, .extra = EXTRASAMPLE_UNASSALPHA, .planes = true, .tile = 16});
  kinds.push_back({.extra = EXTRASAMPLE_ASSOCALPHA, .planes = true, .compression = COMPRESSION_ADOBE_DEFLATE});
  kinds.push_back({.orientation = 6});
  kinds.push_back({.tile = 16, .orientation = 7});
  kinds.push_back(jpeg_kind(true, 0));
  std::uint64_t seed = 0;
  for (const TiffKind& kind : kinds)
    for (const Size size : {Size{19, 6}, Size{7, 18}}) {
      const Bytes bytes = TiffFile(kind, size, ++seed).bytes();
      const auto decoding = tiff_decoder({.color = TiffOptions::as_stored,
                                          .dtype = kind.bits == 16 ? DType::u16 : DType::u8,
                                          .apply_orientation = true})
                                ->start();
      const Image whole = decoded(*decoding, bytes, true, false);
      decoding->open(bytes);
      for (std::int32_t top = 0; top < whole.shape.height; ++top)
        for (std::int32_t left = 0; left < whole.shape.width; ++left)
          for (std::int32_t height = 1; height <= whole.shape.height - top; ++height)
            for (std::int32_t width = 1; width <= whole.shape.width - left; ++width) {
              const Box box{top, left, height, width};
              TestScratch scratch;
              const Pixels pixels = decoding->decode(box, (top + width) % 5 == 0, nullptr, scratch);
              const std::size_t row = static_cast<std::size_t>(width) * whole.shape.pixel_bytes();
              bool same = pixels.shape.size() == box.size();
              for (std::int32_t y = 0; same && y < height; ++y)
                same = std::memcmp(pixels.data + y * pixels.stride, whole.view(box).data + y * whole.view(box).stride,
                                   row) == 0;
              CAPTURE(kind.photometric, kind.tile, kind.orientation, top, left, height, width);
              if (!same) FAIL("another part");
            }
    }
}

TEST_CASE("colours are those that libtiff's own reader of RGB makes") {
  std::vector<TiffKind> kinds;
  for (const TiffKind& kind : tiff_kinds())
    // libtiff's reader of RGB does not take everything that libtiff decodes.
    if (kind.bits <= 8 && kind.extra < 0 && !(kind.planes && kind.samples() == 1) &&
        (kind.compression != COMPRESSION_NONE || kind.tile == 0))
      kinds.push_back(kind);
  for (const std::int32_t tile : {0, 16, 32})
    for (const bool color : {false, true}) kinds.push_back(jpeg_kind(color, tile));
  for (const bool planes : {false, true})
    kinds.push_back({.planes = planes, .tile = 16, .compression = COMPRESSION_JPEG});
  if (TIFFIsCODECConfigured(COMPRESSION_WEBP) != 0)
    for (const std::int32_t tile : {0, 32}) kinds.push_back({.tile = tile, .compression = COMPRESSION_WEBP});
  for (const int fax : {COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4})
    kinds.push_back({.photometric = PHOTOMETRIC_MINISWHITE, .bits = 1, .compression = fax});
  std::uint64_t seed = 0;
  for (const TiffKind& kind : kinds) {
    CAPTURE(kind.photometric, kind.bits, kind.planes, kind.tile, kind.compression);
    const Bytes bytes = TiffFile(kind, {45, 67}, ++seed).bytes();
    REQUIRE(decoded(bytes, {}) == read_by_libtiff(bytes));
  }
}

TEST_CASE("boxes, points and masks turn with a TIFF that is set upright") {
  const ImageFields all{"image", boxes("boxes"), points("points"), instance_masks("masks")};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const TiffFile tiff({.tile = 16, .orientation = orientation}, {23, 40}, static_cast<std::uint64_t>(orientation));
    const auto bytes = tiff.bytes();
    const Followed file{{bytes.begin(), bytes.end()}, 23, 40};
    check_followers(file, decode_tiff(), decode_tiff(all, {.apply_orientation = true}), orientation);
  }
}

TEST_CASE("orientations are applied if that is asked for") {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    CAPTURE(orientation);
    const TiffFile file({.tile = 16, .orientation = orientation}, {23, 40}, static_cast<std::uint64_t>(orientation));
    const Image stored = file.expected(TiffOptions::rgb);
    CHECK(decoded(file.bytes(), {}) == stored);
    CHECK(decoded(file.bytes(), {.apply_orientation = true}) == upright(stored, orientation));
  }
  Bytes bytes = TiffFile({.orientation = 5}, {6, 9}, 1).bytes();
  CHECK(tiff_decoder({.apply_orientation = true})->start()->open(bytes) == ImageShape{9, 6, 3});
}

TEST_CASE("pages are counted without reduced images, masks and those below another") {
  const Size size{12, 13};
  const TiffFile first({}, size, 1), small({}, {6, 7}, 2), mask({.photometric = PHOTOMETRIC_MINISBLACK}, size, 3),
      second({.bits = 16}, {8, 9}, 4), below({}, {3, 3}, 5);
  const auto type = [](std::uint32_t value) {
    return [value](::TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, value); };
  };
  const auto with_below = [](::TIFF* tiff) {
    std::uint64_t offset = 0;
    TIFFSetField(tiff, TIFFTAG_SUBIFD, 1, &offset);
  };
  for (const char* mode : {"wl", "wb8"}) {
    const Bytes one = written(mode, [&](::TIFF* tiff) {
      small.write(tiff, type(FILETYPE_REDUCEDIMAGE));
      first.write(tiff, with_below);
      below.write(tiff);
      mask.write(tiff, type(FILETYPE_MASK));
    });
    CHECK(decoded(one, {}) == first.expected(TiffOptions::rgb));
    CHECK(decoded(one, {.page = 0}) == first.expected(TiffOptions::rgb));
    const Error missing = error_of([&] { decoded(one, {.page = 1}); });
    CHECK(missing.code() == Errc::unsupported);
    CHECK(mentions(missing, "the TIFF has 1 page, and `page = 1` is not among them"));

    const Bytes two = written(mode, [&](::TIFF* tiff) {
      first.write(tiff, type(FILETYPE_PAGE));
      small.write(tiff, type(FILETYPE_REDUCEDIMAGE | FILETYPE_PAGE));
      second.write(tiff, type(FILETYPE_PAGE));
    });
    CHECK(decoded(two, {.page = 0}) == first.expected(TiffOptions::rgb));
    CHECK(decoded(two, {.dtype = DType::u16, .page = 1}) == second.expected(TiffOptions::rgb, DType::u16));
    const Error several = error_of([&] { decoded(two, {}); });
    CHECK(several.code() == Errc::unsupported);
    CHECK(mentions(several, "the TIFF has 2 pages: `page = 0` decodes the first"));

    // The older tag for the same, which libtiff no longer writes.
    if (std::string(mode) == "wl") {
      Bytes old = written(mode, [&](::TIFF* tiff) {
        first.write(tiff);
        small.write(tiff, type(FILETYPE_PAGE));
      });
      constexpr char entry[] = "\xfe\0\4\0\1\0\0\0\2";
      const auto at = std::search(old.begin(), old.end(), reinterpret_cast<const std::byte*>(entry),
                                  reinterpret_cast<const std::byte*>(entry) + 9);
      REQUIRE(at != old.end());
      *at = std::byte{255};
      CHECK(decoded(old, {}) == first.expected(TiffOptions::rgb));
    }

    const Bytes none = written(mode, [&](::TIFF* tiff) { small.write(tiff, type(FILETYPE_REDUCEDIMAGE)); });
    CHECK(mentions(error_of([&] { decoded(none, {}); }), "0 pages, as all its images are reduced ones or masks"));
  }
}

TEST_CASE("the stage makes the same batches folded or not, verified or not, at any number of threads") {
  const Pipeline chain = from(some_files()) | decode_tiff() | random_crop("image", {40, 40}) | random_flip("image") |
                         random_resized_crop("image", {24, 28});
  const Bytes folded = all_bytes(chain | batch(4));
  CHECK(folded.size() == 16 * 24 * 28 * 3);
  CHECK(all_bytes(chain | check({.fold = false}) | batch(4)) == folded);
  CHECK(all_bytes(chain | check({.verify = true}) | batch(4)) == folded);
  for (const unsigned threads : {1u, 4u}) {
    Bytes made;
    Loader loader(chain | batch(4), {.threads = threads});
    for (Batch& batch : loader.epoch()) {
      const TensorView images = batch["image"];
      made.insert(made.end(), images.data, images.data + images.bytes());
    }
    CHECK(made == folded);
  }
}

TEST_CASE("a palette that becomes grey is remarked, and labels stay as they are") {
  const Bytes bytes = TiffFile({.photometric = PHOTOMETRIC_PALETTE}, {5, 6}, 1).bytes();
  const auto gray = tiff_decoder({.color = TiffOptions::gray})->start(), color = tiff_decoder()->start();
  gray->open(bytes), color->open(bytes);
  REQUIRE(gray->remark() != nullptr);
  CHECK(std::string(gray->remark()).find("`.color = labels`") != std::string::npos);
  CHECK(color->remark() == nullptr);
  CHECK(tiff_decoder({.color = TiffOptions::labels})->labels());
  CHECK(tiff_decoder({.color = TiffOptions::labels})->labels_become().empty());
  CHECK(tiff_decoder()->labels_become().starts_with("the numbers of a TIFF's palette become colours"));
}

TEST_CASE("options of decode_tiff, and the schema and fingerprint that they make") {
  const AnySource files = share(some_files());
  const auto made = [&](const TiffOptions& options) { return from(files) | decode_tiff("image", options); };
  CHECK(made({}).schema().to_string() == "{image: u8[?, ?, 3]}");
  CHECK(made({.color = TiffOptions::labels, .dtype = DType::u16}).schema().to_string() == "{image: u16[?, ?, 1]}");
  CHECK(made({.color = TiffOptions::as_stored}).schema().to_string() == "{image: u8[?, ?, ?]}");
  const auto fingerprint = [&](const TiffOptions& options) {
    return (made(options) | crop("image", {0, 0, 8, 8}) | convert("image")).fingerprint();
  };
  const std::vector<TiffOptions> options{{},
                                         {.color = TiffOptions::gray},
                                         {.dtype = DType::u16},
                                         {.high_byte = true},
                                         {.max_pixels = 100},
                                         {.apply_orientation = true},
                                         {.page = 0},
                                         {.page = 1}};
  for (std::size_t i = 0; i < options.size(); ++i)
    for (std::size_t k = 0; k < options.size(); ++k)
      CHECK((fingerprint(options[i]) == fingerprint(options[k])) == (i == k));
  CHECK(code_of([] { tiff_decoder({.max_pixels = 0}); }) == Errc::invalid_argument);
  CHECK(code_of([] { tiff_decoder({.dtype = DType::f32}); }) == Errc::invalid_argument);

  const auto decoding = tiff_decoder()->start();
  const Bytes bytes = TiffFile({}, {20, 20}, 1).bytes();
  for (const Box& box : {Box{0, 0, 21, 5}, Box{0, 16, 5, 5}, Box{-1, 0, 5, 5}, Box{0, 0, 0, 5}}) {
    TestScratch scratch;
    decoding->open(bytes);
    CHECK(code_of([&] { decoding->decode(box, false, nullptr, scratch); }) == Errc::invalid_argument);
  }
  TestScratch scratch;
  CHECK(code_of([&] {
          tiff_decoder()->start()->decode({0, 0, 1, 1}, false, nullptr, scratch);
        }) == Errc::invalid_argument);
}

TEST_CASE("TIFFs that Pillow writes are what Pillow reads") {
  const char* const python = "/usr/bin/python3";
  if (std::system((std::string(python) + " -c 'from PIL import features; exit(not features.check(\"libtiff\"))' "
                                         "2>/dev/null")
                      .c_str()) != 0)
    PENSTOCK_SKIP("no Pillow with libtiff for /usr/bin/python3: 135 comparisons were not made");
  const TempFolder folder;
  folder.write("make.py",
               "import sys, random\n"
               "from PIL import Image\n"
               "random.seed(3)\n"
               "w, h = 61, 47\n"
               "out = sys.argv[1]\n"
               "for mode in ['1', 'L', 'LA', 'P', 'RGB', 'RGBA']:\n"
               "    n = len(Image.new(mode, (1, 1)).getbands())\n"
               "    if mode == '1':\n"
               "        image = Image.frombytes('1', (w, h), random.randbytes((w + 7) // 8 * h))\n"
               "    else:\n"
               "        image = Image.frombytes(mode, (w, h), random.randbytes(w * h * n))\n"
               "    if mode == 'P':\n"
               "        image.putpalette([random.randrange(256) for _ in range(3 * 256)])\n"
               "    kinds = ['raw', 'tiff_lzw', 'packbits', 'tiff_adobe_deflate', 'zstd', 'lzma']\n"
               "    kinds += ['group3', 'group4', 'tiff_ccitt'] if mode == '1' else []\n"
               "    kinds += ['jpeg'] if mode in ('L', 'RGB') else []\n"
               "    for kind in kinds:\n"
               "        name = f'{out}/{mode}.{kind}'\n"
               "        image.save(name + '.tif', compression=kind)\n"
               "        read = Image.open(name + '.tif')\n"
               "        for to in ['RGB', 'L', 'RGBA']:\n"
               "            open(f'{name}.{to}', 'wb').write(read.convert(to).tobytes())\n"
               "        print(name)\n"
               "wide = Image.frombytes('I;16', (w, h), random.randbytes(w * h * 2))\n"
               "wide.save(f'{out}/wide.tif')\n"
               "open(f'{out}/wide.raw', 'wb').write(wide.tobytes())\n"
               "image.save(f'{out}/pages.tif', save_all=True, append_images=[image])\n");
  const std::string list = folder / "names";
  REQUIRE(std::system((std::string(python) + " " + (folder / "make.py") + " " + folder.path().string() + " > " + list)
                          .c_str()) == 0);
  std::istringstream names(text_in(list));
  int compared = 0;
  for (std::string name; std::getline(names, name);)
    for (const auto& [to, color] : {std::pair{"RGB", TiffOptions::rgb}, std::pair{"L", TiffOptions::gray},
                                    std::pair{"RGBA", TiffOptions::rgba}}) {
      CAPTURE(name, to);
      const std::string file = text_in(name + ".tif"), theirs = text_in(name + "." + to);
      const Image ours = decoded(*tiff_decoder({.color = color})->start(), std::as_bytes(std::span(file)), true, true);
      REQUIRE(ours.pixels.size() == theirs.size());
      CHECK(std::memcmp(ours.pixels.data(), theirs.data(), theirs.size()) == 0);
      ++compared;
    }
  CHECK(compared == 3 * (6 * 6 + 3 + 2));
  const std::string wide = text_in(folder / "wide.tif"), theirs = text_in(folder / "wide.raw"),
                    pages = text_in(folder / "pages.tif");
  const Image ours = decoded(*tiff_decoder({.color = TiffOptions::gray, .dtype = DType::u16})->start(),
                             std::as_bytes(std::span(wide)), true, true);
  REQUIRE(ours.pixels.size() == theirs.size());
  CHECK(std::memcmp(ours.pixels.data(), theirs.data(), theirs.size()) == 0);
  CHECK(mentions(error_of([&] { tiff_decoder()->start()->open(std::as_bytes(std::span(pages))); }), "has 2 pages"));
}

}  // namespace PENSTOCK_TEST_FILE
