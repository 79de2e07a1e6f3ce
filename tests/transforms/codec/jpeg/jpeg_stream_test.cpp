// SPDX-License-Identifier: Apache-2.0
// Streams that lie in other files: without their tables, with colours that the file around them names.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include <penstock/extend/jpeg_stream_decoder.hpp>

#include "core/help.hpp"
#include "support/catch.hpp"
#include "support/test_images.hpp"
#include "transforms/codec/jpeg/plain_jpeg.hpp"
#include "transforms/codec/jpeg/tiled_tiff.hpp"

using namespace penstock;
using namespace penstock_test;
using Colors = JpegContainer::Colors;

namespace {

// A file as a container keeps it: what all its streams have in common, and the rest.
struct Abbreviated {
  Bytes tables, stream;
};

// `quantization`: these tables are in common, too.
Abbreviated abbreviated(const Bytes& file, bool quantization = true) {
  Abbreviated out;
  const auto put = [&](Bytes& to, std::size_t begin, std::size_t end) {
    to.insert(to.end(), file.begin() + static_cast<std::ptrdiff_t>(begin),
              file.begin() + static_cast<std::ptrdiff_t>(end));
  };
  put(out.tables, 0, 2);
  put(out.stream, 0, 2);
  for (std::size_t i = 2;;) {
    const int code = std::to_integer<int>(file[i + 1]);
    const std::size_t end =
        i + 2 + (std::to_integer<std::size_t>(file[i + 2]) << 8) + std::to_integer<std::size_t>(file[i + 3]);
    put((quantization && code == 0xdb) || code == 0xc4 ? out.tables : out.stream, i, end);
    i = end;
    if (code != 0xda) continue;
    put(out.stream, i, file.size());
    put(out.tables, file.size() - 2, file.size());
    return out;
  }
}

Image decode(JpegStreamDecoder& decoder, std::span<const std::byte> stream, const JpegContainer& container = {}) {
  Image image(decoder.open(stream, container));
  decoder.decode({0, 0, image.shape.height, image.shape.width}, reinterpret_cast<std::byte*>(image.pixels.data()),
                 std::ptrdiff_t{image.shape.width} * image.shape.channels);
  return image;
}

JpegOptions with(JpegOptions::Decoder decoder, JpegOptions::Color color = JpegOptions::rgb) {
  JpegOptions options;
  options.decoder = decoder;
  options.color = color;
  return options;
}

constexpr std::array both{JpegOptions::Decoder::automatic, JpegOptions::Decoder::libjpeg};

}  // namespace

TEST_CASE("any box of a stream whose tables are elsewhere has the pixels of the whole file, in rows of any stride") {
  Numbers numbers(11);
  for (std::uint64_t i = 0, end = help::scaled(400); i < end; ++i) {
    const ImageShape shape{static_cast<std::int32_t>(numbers.from(1, 150)),
                           static_cast<std::int32_t>(numbers.from(1, 150)), numbers.below(4) == 0 ? 1 : 3};
    PlainJpeg kind;
    kind.quality = static_cast<int>(numbers.from(30, 98));
    kind.luma =
        std::array<std::array<int, 2>, 4>{{{1, 1}, {2, 1}, {1, 2}, {2, 2}}}[static_cast<std::size_t>(numbers.below(4))];
    kind.progressive = numbers.below(4) == 0;
    kind.optimized = !kind.progressive && numbers.coin();
    kind.restart_interval = numbers.coin() ? 0 : static_cast<int>(numbers.from(1, 4));
    const Bytes file = plain_encode(photo(shape, i), kind);
    const Image whole = plain_decode(file);
    const Abbreviated of = abbreviated(file, numbers.coin());
    for (const auto by : both) {
      JpegStreamDecoder decoder(with(by));
      REQUIRE(decoder.open(of.stream, {.tables = of.tables}) == whole.shape);
      for (int boxes = 0; boxes < 4; ++boxes) {
        Box box;
        box.height = static_cast<std::int32_t>(numbers.from(1, shape.height));
        box.width = static_cast<std::int32_t>(numbers.from(1, shape.width));
        box.top = static_cast<std::int32_t>(numbers.from(0, shape.height - box.height));
        box.left = static_cast<std::int32_t>(numbers.from(0, shape.width - box.width));
        const auto row = static_cast<std::size_t>(box.width) * 3;
        const std::size_t stride = row + static_cast<std::size_t>(numbers.below(40)), before = 64;
        std::vector<std::byte> found(before + stride * static_cast<std::size_t>(box.height) + 64, std::byte{0x5a});
        std::vector<std::byte> wanted = found;
        const Image part = cut(whole, box);
        for (std::size_t y = 0; y < static_cast<std::size_t>(box.height); ++y)
          std::memcpy(wanted.data() + before + y * stride, part.pixels.data() + y * row, row);
        decoder.decode(box, found.data() + before, static_cast<std::ptrdiff_t>(stride), numbers.coin());
        REQUIRE(found == wanted);
      }
    }
  }
}

TEST_CASE("colours are those that the container names, whatever a stream's markers and numbers say") {
  for (const auto stored : {PlainJpeg::ycc, PlainJpeg::rgb}) {
    for (const auto luma : {std::array{1, 1}, std::array{2, 2}}) {
      PlainJpeg kind{.luma = luma, .colors = stored, .jfif = false, .adobe = true};
      const Bytes told = plain_encode(photo({90, 110, 3}), kind);
      const Image wanted = plain_decode(told);
      // `bare` lacks the marker that says so: libjpeg takes components 1, 2 and 3 for YCbCr.
      constexpr std::size_t adobe_bytes = 16;
      REQUIRE(std::to_integer<int>(told[3]) == 0xee);
      Bytes bare = told;
      bare.erase(bare.begin() + 2, bare.begin() + 2 + adobe_bytes);
      Bytes wrong = told;
      wrong[2 + adobe_bytes - 1] = stored == PlainJpeg::rgb ? std::byte{1} : std::byte{0};
      const Colors colors = stored == PlainJpeg::rgb ? Colors::rgb : Colors::ycc;
      for (const auto by : both) {
        JpegStreamDecoder decoder(with(by));
        CHECK(decode(decoder, told, {.colors = colors}).pixels == wanted.pixels);
        CHECK(decode(decoder, bare, {.colors = colors}).pixels == wanted.pixels);
        CHECK(decode(decoder, wrong, {.colors = colors}).pixels == wanted.pixels);
        CHECK(decode(decoder, told).pixels == wanted.pixels);
        CHECK_FALSE(decode(decoder, wrong).pixels == wanted.pixels);
      }
    }
  }
}

TEST_CASE("grey and colours as stored come out of streams as of files") {
  const Bytes color = plain_encode(photo({40, 50, 3}), {}), gray = plain_encode(photo({40, 50, 1}), {});
  for (const auto by : both) {
    JpegStreamDecoder to_gray(with(by, JpegOptions::gray)), as_stored(with(by, JpegOptions::as_stored));
    CHECK(decode(to_gray, color).pixels == plain_decode(color, true).pixels);
    CHECK(decode(to_gray, color, {.colors = Colors::ycc}).pixels == plain_decode(color, true).pixels);
    CHECK(decode(as_stored, gray).pixels == plain_decode(gray, true).pixels);
    CHECK(decode(as_stored, color).pixels == plain_decode(color).pixels);
  }
}

TEST_CASE("a stream's own tables come before those given, and tables of other streams are not used") {
  const Bytes fine = plain_encode(photo({64, 64, 3}), {.quality = 95, .optimized = true}),
              coarse = plain_encode(photo({64, 64, 3}, 1), {.quality = 20, .optimized = true});
  const Abbreviated of = abbreviated(fine);
  for (const auto by : both) {
    JpegStreamDecoder decoder(with(by));
    CHECK(decode(decoder, coarse, {.tables = of.tables}).pixels == plain_decode(coarse).pixels);
    CHECK(decode(decoder, of.stream, {.tables = of.tables}).pixels == plain_decode(fine).pixels);
    const auto error = help::error_of([&] { decode(decoder, of.stream); });
    REQUIRE(error);
    CHECK(error->code() == Errc::corrupt);
    CHECK(decode(decoder, coarse).pixels == plain_decode(coarse).pixels);
  }
}

TEST_CASE("what is wrong with a stream, its tables, a box or the options is told") {
  const Bytes file = plain_encode(photo({48, 64, 3}), {}), gray = plain_encode(photo({48, 64, 1}), {});
  const Abbreviated of = abbreviated(file);
  JpegStreamDecoder decoder;
  std::vector<std::byte> room(48 * 64 * 3);
  const auto refused = [](const auto& call, Errc code, const char* words) {
    INFO(words);
    const auto error = help::error_of(call);
    REQUIRE(error);
    CHECK(error->code() == code);
    CHECK_THAT(error->what(), Catch::Contains(words));
  };
  const auto decode_box = [&](const Box& box, std::ptrdiff_t stride) { decoder.decode(box, room.data(), stride); };
  refused([&] { decode_box({0, 0, 1, 1}, 3); }, Errc::invalid_argument, "call open() first");
  refused([&] { decoder.open(of.stream, {.tables = file}); }, Errc::corrupt,
          "in the tables given beforehand: there is an image in them");
  Bytes cut_off(of.tables.begin(), of.tables.end() - 9);
  refused([&] { decoder.open(of.stream, {.tables = cut_off}); }, Errc::corrupt, "in the tables given beforehand");
  refused([&] { decoder.open(of.stream, {.tables = std::span(file).first(1)}); }, Errc::corrupt, "in the tables");
  Bytes stray = of.tables;
  stray.insert(stray.begin() + 2, 3, std::byte{0x11});
  refused([&] { decoder.open(of.stream, {.tables = stray}); }, Errc::corrupt, "in the tables given beforehand");
  refused([&] { decoder.open(gray, {.colors = Colors::rgb}); }, Errc::corrupt, "has 1 components, not the three");
  refused([&] { decoder.open(std::span(file).first(40)); }, Errc::corrupt, "cut off");
  refused([&] { decode_box({0, 0, 1, 1}, 3); }, Errc::invalid_argument, "call open() first");
  decoder.open(of.stream, {.tables = of.tables});
  refused([&] { decode_box({0, 0, 48, 65}, 65 * 3); }, Errc::invalid_argument, "inside the image");
  refused([&] { decode_box({-1, 0, 4, 4}, 12); }, Errc::invalid_argument, "inside the image");
  refused([&] { decode_box({0, 0, 48, 64}, 64 * 3 - 1); }, Errc::invalid_argument, "less than a row");
  refused([&] { decoder.decode({0, 0, 4, 4}, nullptr, 12); }, Errc::invalid_argument, "`into` is null");
  decode_box({0, 0, 48, 64}, 64 * 3);
  CHECK(std::memcmp(room.data(), plain_decode(file).pixels.data(), room.size()) == 0);
  // Damage where no box looks is found when it is asked for, and the stream stays open.
  Bytes damaged = file;
  damaged.insert(damaged.end() - 2, 40, std::byte{0x55});
  decoder.open(damaged);
  decode_box({0, 0, 8, 8}, 24);
  refused([&] { decoder.decode({0, 0, 8, 8}, room.data(), 24, true); }, Errc::corrupt, "extraneous bytes");
  decode_box({0, 0, 8, 8}, 24);
  JpegStreamDecoder moved = std::move(decoder);
  moved.decode({0, 0, 8, 8}, room.data(), 24);
  refused([] { JpegStreamDecoder({.apply_orientation = true}); }, Errc::invalid_argument, "apply_orientation");
  refused([] { JpegStreamDecoder({.max_pixels = 0}); }, Errc::invalid_argument, "max_pixels");
  JpegStreamDecoder small({.max_pixels = 48 * 64 - 1});
  refused([&] { small.open(file); }, Errc::limit_exceeded, "max_pixels");
}

TEST_CASE("tiles of real slides have libjpeg's pixels, whole and in part, and their file's colours") {
  const auto slides = tiled_tiffs();
  if (slides.empty()) PENSTOCK_SKIP("PENSTOCK_SLIDES names no folder: 0 tiles of slides were decoded");
  Numbers numbers(13);
  std::size_t tiles = 0, told = 0;
  for (const TiledTiff& slide : slides) {
    for (const TiffLevel& level : slide.levels) {
      REQUIRE((level.photometric == 2 || level.photometric == 6));
      const Colors colors = level.photometric == 2 ? Colors::rgb : Colors::ycc;
      for (const std::span<const std::byte> tile : level.tiles) {
        const Image wanted = plain_decode(whole_file(tile, level));
        for (const auto by : both) {
          JpegStreamDecoder decoder(with(by));
          const JpegContainer container{colors, level.tables};
          INFO(slide.name << ", tile of " << tile.size() << " bytes");
          const Image found = decode(decoder, tile, container);
          REQUIRE(found.shape == wanted.shape);
          REQUIRE(found.shape.height == level.tile_height);
          REQUIRE(found.shape.width == level.tile_width);
          REQUIRE(found.pixels == wanted.pixels);
          const Box box{static_cast<std::int32_t>(numbers.from(0, level.tile_height - 9)),
                        static_cast<std::int32_t>(numbers.from(0, level.tile_width - 17)), 9, 17};
          Image part({box.height, box.width, 3});
          decoder.decode(box, reinterpret_cast<std::byte*>(part.pixels.data()), std::ptrdiff_t{box.width} * 3);
          REQUIRE(part.pixels == cut(wanted, box).pixels);
        }
        JpegStreamDecoder untold;
        told += decode(untold, tile, {.tables = level.tables}).pixels != wanted.pixels ? 1 : 0;
        ++tiles;
      }
    }
  }
  std::printf("%zu tiles of %zu slides decoded; %zu of them would have other colours without the file around them\n",
              tiles, slides.size(), told);
  CHECK(told > 0);
}
