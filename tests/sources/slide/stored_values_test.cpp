// SPDX-License-Identifier: Apache-2.0
// Slides whose tiles hold values, as libtiff writes and reads them.
#include <penstock/sources/slide.hpp>

#include <tiffio.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/penstock.hpp>
#include <penstock/sources/slide_index.hpp>
#include <penstock/transforms/image.hpp>

#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "sources/temp_folder.hpp"
#include "support/campaign.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

using OpenTiff = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

struct ValueForm {
  int compression = COMPRESSION_ADOBE_DEFLATE, photometric = PHOTOMETRIC_RGB, bits = 8, samples = 3;
  int planes = PLANARCONFIG_CONTIG, predictor = PREDICTOR_NONE;
  int extra = -1;  // the kind of the last sample; -1: the file doesn't say
  const char* mode = "w";
};

constexpr std::uint32_t width = 86, height = 71, side = 32;

// Steps, flat areas and noise: something for each compression.
std::uint32_t value_at(std::uint32_t x, std::uint32_t y, std::uint32_t sample, std::uint32_t seed) {
  const std::uint32_t noise = (x * 2654435761u ^ y * 40503u ^ (sample + seed) * 97u) * 2246822519u >> 16;
  if (x / 20 % 3 == 0) return 9000 * (sample + 1) + y / 9 * 300;
  return x / 20 % 3 == 1 ? x * 401 + y * 210 + sample * 16000 : noise;
}

// The values of a tile, plane by plane if `plane` is given.
std::vector<std::uint8_t> tile_values(const ValueForm& form, std::uint32_t left, std::uint32_t top, int plane,
                                      std::uint32_t seed) {
  std::vector<std::uint8_t> values;
  for (std::uint32_t y = top; y < top + side; ++y)
    for (std::uint32_t x = left; x < left + side; ++x)
      for (std::uint32_t s = 0; s < static_cast<std::uint32_t>(form.samples); ++s) {
        if (plane >= 0 && s != static_cast<std::uint32_t>(plane)) continue;
        const auto value = static_cast<std::uint16_t>(value_at(x, y, s, seed));
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
        if (form.bits == 16) {
          values.insert(values.end(), bytes, bytes + 2);
        } else {
          values.push_back(static_cast<std::uint8_t>(value >> 8));
        }
      }
  return values;
}

void write_values(const std::string& path, const ValueForm& form, std::uint32_t seed = 0) {
  const OpenTiff tiff(TIFFOpen(path.c_str(), form.mode), TIFFClose);
  REQUIRE(tiff != nullptr);
  TIFFSetField(tiff.get(), TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(tiff.get(), TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(tiff.get(), TIFFTAG_TILEWIDTH, side);
  TIFFSetField(tiff.get(), TIFFTAG_TILELENGTH, side);
  TIFFSetField(tiff.get(), TIFFTAG_BITSPERSAMPLE, form.bits);
  TIFFSetField(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, form.samples);
  TIFFSetField(tiff.get(), TIFFTAG_PHOTOMETRIC, form.photometric);
  TIFFSetField(tiff.get(), TIFFTAG_PLANARCONFIG, form.planes);
  REQUIRE(TIFFSetField(tiff.get(), TIFFTAG_COMPRESSION, form.compression) == 1);
  if (form.predictor != PREDICTOR_NONE) REQUIRE(TIFFSetField(tiff.get(), TIFFTAG_PREDICTOR, form.predictor) == 1);
  if (form.extra >= 0) {
    const auto extra = static_cast<std::uint16_t>(form.extra);
    TIFFSetField(tiff.get(), TIFFTAG_EXTRASAMPLES, 1, &extra);
  }
  if (form.photometric == PHOTOMETRIC_PALETTE) {
    std::vector<std::uint16_t> red, green, blue;
    for (std::uint32_t i = 0; i < 256; ++i) {
      red.push_back(static_cast<std::uint16_t>(i * 257));
      green.push_back(static_cast<std::uint16_t>((i * 7919) & 0xffff));
      blue.push_back(static_cast<std::uint16_t>(65535 - i * i));
    }
    TIFFSetField(tiff.get(), TIFFTAG_COLORMAP, red.data(), green.data(), blue.data());
  }
  std::uint32_t tile = 0;
  const int planes = form.planes == PLANARCONFIG_SEPARATE ? form.samples : 1;
  for (int plane = 0; plane < planes; ++plane)
    for (std::uint32_t y = 0; y < height; y += side)
      for (std::uint32_t x = 0; x < width; x += side) {
        std::vector<std::uint8_t> values = tile_values(form, x, y, planes == 1 ? -1 : plane, seed);
        REQUIRE(TIFFWriteEncodedTile(tiff.get(), tile++, values.data(), static_cast<tmsize_t>(values.size())) ==
                static_cast<tmsize_t>(values.size()));
      }
}

// Level 0 as libtiff reads it, over white.
Image read_by_libtiff(const std::string& path) {
  const OpenTiff tiff(TIFFOpen(path.c_str(), "r"), TIFFClose);
  REQUIRE(tiff != nullptr);
  Image image({static_cast<std::int32_t>(height), static_cast<std::int32_t>(width), 3});
  std::vector<std::uint32_t> raster(side * side);
  for (std::uint32_t top = 0; top < height; top += side)
    for (std::uint32_t left = 0; left < width; left += side) {
      REQUIRE(TIFFReadRGBATile(tiff.get(), left, top, raster.data()) == 1);
      for (std::uint32_t y = top; y < std::min(top + side, height); ++y)
        for (std::uint32_t x = left; x < std::min(left + side, width); ++x) {
          const std::uint32_t pixel = raster[(side - 1 - (y - top)) * side + x - left];
          for (std::uint32_t c = 0; c < 3; ++c)
            image.at(static_cast<std::int32_t>(y), static_cast<std::int32_t>(x), static_cast<std::int32_t>(c)) =
                static_cast<std::uint8_t>(std::min((pixel >> (8 * c) & 255) + 255 - (pixel >> 24), 255u));
        }
    }
  return image;
}

Image level_of(const std::string& path) {
  const SlideSource source({.files = path, .size = width, .edges = SlideEdges::shrink});
  const SlideInfo& info = source.slides().front();
  if (info.failure) throw Error(*info.failure);
  REQUIRE(info.why_openslide.empty());
  return image_of(read_sample(source, 0)["image"]);
}

struct Compression {
  std::uint16_t number;
  bool predicts;
  SlideCodec codec;
};
constexpr Compression compressions[] = {
    {COMPRESSION_NONE, false, SlideCodec::uncompressed},    {COMPRESSION_LZW, true, SlideCodec::lzw},
    {COMPRESSION_ADOBE_DEFLATE, true, SlideCodec::deflate}, {COMPRESSION_DEFLATE, true, SlideCodec::deflate},
    {COMPRESSION_PACKBITS, false, SlideCodec::packbits},    {COMPRESSION_ZSTD, true, SlideCodec::zstd}};

}  // namespace

TEST_CASE("tiles of values have the pixels that libtiff makes of them") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  struct Pixel {
    int photometric, samples, extra;
  };
  const Pixel pixels[] = {{PHOTOMETRIC_RGB, 3, -1},
                          {PHOTOMETRIC_RGB, 4, -1},
                          {PHOTOMETRIC_RGB, 4, EXTRASAMPLE_UNSPECIFIED},
                          {PHOTOMETRIC_RGB, 4, EXTRASAMPLE_ASSOCALPHA},
                          {PHOTOMETRIC_RGB, 4, EXTRASAMPLE_UNASSALPHA},
                          {PHOTOMETRIC_MINISBLACK, 1, -1},
                          {PHOTOMETRIC_MINISWHITE, 1, -1},
                          {PHOTOMETRIC_PALETTE, 1, -1}};
  std::size_t compared = 0;
  for (const Compression& compression : compressions)
    for (const Pixel& pixel : pixels)
      for (const int bits : {8, 16})
        for (const int planes : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE})
          for (const int predictor : {PREDICTOR_NONE, PREDICTOR_HORIZONTAL})
            for (const char* const mode : {"w", "wb", "w8"}) {
              if (predictor != PREDICTOR_NONE && !compression.predicts) continue;
              if (pixel.photometric == PHOTOMETRIC_PALETTE && bits == 16) continue;
              // The order of bytes and the size of addresses change nothing else.
              const std::string_view kind = mode;
              if ((kind == "wb" && bits == 8) || (kind == "w8" && (bits == 16 || predictor != PREDICTOR_NONE)))
                continue;
              CAPTURE(compression.number, pixel.photometric, pixel.samples, pixel.extra, bits, planes, predictor, mode);
              ValueForm form{.compression = compression.number,
                             .photometric = pixel.photometric,
                             .bits = bits,
                             .samples = pixel.samples,
                             .planes = planes,
                             .predictor = predictor,
                             .extra = pixel.extra,
                             .mode = mode};
              // libtiff takes the high bytes of grey values, but shifts the rows of a tile that is cut at the right.
              const bool by_high_bytes = bits == 16 && pixel.photometric != PHOTOMETRIC_RGB;
              if (by_high_bytes) form.bits = 8;
              write_values(path, form);
              const Image expected = read_by_libtiff(path);
              form.bits = bits;
              if (by_high_bytes) write_values(path, form);
              REQUIRE(level_of(path) == expected);
              CHECK(SlideSource({.files = path, .size = 16}).slides().front().codec == compression.codec);
              ++compared;
            }
  CHECK(compared == 536);
}

TEST_CASE("grey with alpha is laid over white") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  for (const int planes : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE})
    for (const int photometric : {PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE})
      for (const int extra : {EXTRASAMPLE_UNSPECIFIED, EXTRASAMPLE_ASSOCALPHA, EXTRASAMPLE_UNASSALPHA}) {
        CAPTURE(planes, photometric, extra);
        write_values(path, {.photometric = photometric, .samples = 2, .planes = planes, .extra = extra});
        const Image image = level_of(path);
        for (std::uint32_t y = 0; y < height; ++y)
          for (std::uint32_t x = 0; x < width; ++x) {
            std::uint32_t value = (value_at(x, y, 0, 0) & 0xffff) >> 8;
            const std::uint32_t alpha = (value_at(x, y, 1, 0) & 0xffff) >> 8;
            if (photometric == PHOTOMETRIC_MINISWHITE) value = 255 - value;
            if (extra == EXTRASAMPLE_UNASSALPHA) value = (value * alpha + 127) / 255;
            if (extra != EXTRASAMPLE_UNSPECIFIED) value = std::min(value + 255 - alpha, 255u);
            for (std::int32_t c = 0; c < 3; ++c)
              REQUIRE(image.at(static_cast<std::int32_t>(y), static_cast<std::int32_t>(x), c) == value);
          }
      }
}

TEST_CASE("a part of a tile of values is a part of the whole") {
  const TempFolder folder;
  const std::string path = folder / "a.tif", other = folder / "b.tif";
  for (const Compression& compression : compressions)
    for (const int planes : {PLANARCONFIG_CONTIG, PLANARCONFIG_SEPARATE}) {
      CAPTURE(compression.number, planes);
      const ValueForm form{.compression = compression.number,
                           .bits = 16,
                           .samples = 4,
                           .planes = planes,
                           .predictor = compression.predicts ? PREDICTOR_HORIZONTAL : PREDICTOR_NONE,
                           .extra = EXTRASAMPLE_UNASSALPHA};
      write_values(path, form);
      write_values(other, form, 9);
      const Image whole = level_of(path);
      // `at` decodes parts, where a loader or `read_sample` would decode blocks.
      for (const auto& [size, left, top] : {std::array{10, 0, 0}, {30, 20, 25}, {32, 7, 11}, {64, 3, 1}, {1, 85, 70}}) {
        const Pipeline parts = from(Slides{.files = path, .size = size, .stride = size, .left = left, .top = top});
        for (std::uint64_t i = 0; i < parts.size(); ++i) {
          // Nothing may be left in memory that happens to be right.
          (void)from(Slides{.files = other, .size = size, .stride = size, .left = left, .top = top}).at(i);
          const OwnedSample sample = parts.at(i);
          REQUIRE(image_of(sample["image"]) ==
                  box_of(whole, number_of(sample, "x"), number_of(sample, "y"), size, size));
        }
      }
      const Pipeline crops = from(Slides{.files = path, .size = 64, .stride = 20}) | check({.verify = true}) |
                             center_crop("image", {22, 34});
      for (std::uint64_t i = 0; i < crops.size(); ++i) {
        const OwnedSample sample = crops.at(i);
        REQUIRE(image_of(sample["image"]) ==
                box_of(whole, number_of(sample, "x") + 15, number_of(sample, "y") + 21, 34, 22));
      }
    }
}

TEST_CASE("slides of values have levels, masks, blocks and an index like those of JPEG") {
  const TempFolder folder;
  SlideForm form{.width = 500, .height = 300, .lower = {{250, 150}, {125, 75}}, .per_unit = 10'000};
  for (const int planes : {1, 2}) {
    form.planes = static_cast<std::uint16_t>(planes);
    const std::string path = folder / ("a" + std::to_string(planes) + ".tif");
    const WrittenSlide slide = write_slide(path, plain_form(form));
    const auto image = [&](Slides options) {
      options.files = path;
      options.size = 600;
      options.edges = SlideEdges::shrink;
      return image_of(read_sample(SlideSource(options), 0)["image"]);
    };
    CHECK(image({}) == slide.pixels);
    CHECK(image({.level = 1}) == slide.lower[0]);
    CHECK(image({.level = 2}) == slide.lower[1]);
    const Slides shared{.files = path, .size = 50, .stride = 30};
    CHECK(SlideSource(shared).blocks() == 8 * 5);
    Loader loader(from(shared) | shuffle({.seed = 3}) | batch(7), {.threads = 3, .epochs = 1});
    std::uint64_t rows = 0;
    while (const auto batch = loader.next())
      for (std::size_t row = 0; row < batch->size(); ++row, ++rows) {
        const Image expected = box_of(slide.pixels, (*batch)["x"].as<std::int64_t, 1>().data()[row],
                                      (*batch)["y"].as<std::int64_t, 1>().data()[row], 50, 50);
        REQUIRE(std::memcmp(static_cast<const std::byte*>((*batch)["image"].data) + row * 7500, expected.pixels.data(),
                            7500) == 0);
      }
    CHECK(rows == SlideSource(shared).size());
    const Slides tissue{.files = path, .size = 50, .tissue = {.by = SlideTissue::By::grey, .mpp = 4, .threshold = 128}};
    const std::string index = folder / "index";
    std::filesystem::remove(index);
    write_slide_index(tissue, index);
    Slides indexed = tissue;
    indexed.index = index;
    const SlideSource direct(tissue), by_index(indexed);
    REQUIRE(direct.size() > 0);
    REQUIRE(direct.size() == by_index.size());
    for (std::uint64_t i = 0; i < direct.size(); ++i)
      REQUIRE(image_of(read_sample(direct, i)["image"]) == image_of(read_sample(by_index, i)["image"]));
  }
}

TEST_CASE("tiles that share the bytes of one plane have masks of their own") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  SlideForm form{.width = 512, .height = 256, .planes = 2, .per_unit = 10'000};
  // Red is the same everywhere. Only the right half is stained.
  form.draw = [](const ImageShape& shape) {
    Image image(shape);
    for (std::int32_t y = 0; y < shape.height; ++y)
      for (std::int32_t x = 0; x < shape.width; ++x)
        for (std::int32_t c = 0; c < 3; ++c) image.at(y, x, c) = c == 1 && x >= 256 ? 60 : 200;
    return image;
  };
  const WrittenSlide slide = write_slide(path, plain_form(form));
  for (std::uint64_t tile = 1; tile < 8 * 4; ++tile) slide.set_offset(tile, slide.offsets[0]);
  const SlideSource source({.files = path,
                            .size = 64,
                            .tissue = {.by = SlideTissue::By::saturation, .mpp = 8, .closing = 0, .least_area = 0}});
  CHECK(source.size() == 4 * 4);
  for (std::uint64_t i = 0; i < source.size(); ++i) CHECK(source.place(i).x >= 256);
}

TEST_CASE("a tile is glass only if all of its planes are left out") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide = write_slide(path, plain_form({.width = 64, .height = 64, .planes = 2}));
  const auto leave_out = [&](std::uint64_t plane) {
    slide.set_offset(plane, 0);
    slide.set_size(plane, 0);
  };
  const auto read = [&] { return image_of(read_sample(SlideSource({.files = path, .size = 64}), 0)["image"]); };
  leave_out(0);
  const Error error = error_of([&] { (void)read(); });
  CHECK(error.code() == Errc::corrupt);
  CHECK(mentions(error, "the tile at x 0, y 0 of level 0: the file leaves out one of its colours"));
  leave_out(1);
  CHECK(code_of([&] { (void)read(); }) == Errc::corrupt);
  leave_out(2);
  CHECK(read().pixels == std::vector<std::uint8_t>(std::size_t{64} * 64 * 3, 255));
}

TEST_CASE("a coarse tile is lost, not glass, if one colour of a finer level is there") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const WrittenSlide slide =
      write_slide(path, plain_form({.width = 128, .height = 64, .planes = 2, .lower = {{64, 32}}}));
  const auto coarse = [&] {
    return error_of([&] { (void)read_sample(SlideSource({.files = path, .level = 1, .size = 32}), 0); });
  };
  // The fine level has two tiles for each of three colours, the coarse one has one.
  for (const std::uint64_t plane : {0u, 1u, 2u}) slide.leave_out_below(0, plane);
  for (const std::uint64_t tile : {0u, 1u, 2u, 3u}) {
    slide.set_offset(tile, 0);
    slide.set_size(tile, 0);
  }
  CHECK(mentions(coarse(), "the file leaves it out, though a finer level has pixels of it"));
  for (const std::uint64_t tile : {4u, 5u}) {
    slide.set_offset(tile, 0);
    slide.set_size(tile, 0);
  }
  CHECK_NOTHROW(read_sample(SlideSource({.files = path, .level = 1, .size = 32}), 0));
}

TEST_CASE("what a file does not say about its values, or says wrongly, goes to OpenSlide or is an error") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const auto opened = [&](const SlideForm& form) {
    write_slide(path, form);
    const SlideInfo info = SlideSource({.files = path, .size = 16}).slides().front();
    return info.failure ? info.failure->cause() : info.why_openslide;
  };
  SlideForm form = plain_form({.width = 64, .height = 64, .samples = 4});
  form.encode = [](const Image& tile) { return StoredTile{Bytes(tile.pixels.size() / 3 * 4, std::byte{100}), tile}; };
  form.entries = {{338, {3}}};
  CHECK(opened(form).starts_with("its further sample is of the kind 3"));
  form.entries = {{338, {999}}};  // as Corel writes alpha that is apart
  CHECK(opened(form).empty());
  CHECK(image_of(read_sample(SlideSource({.files = path, .size = 16}), 0)["image"]).pixels.front() ==
        (100 * 100 + 127) / 255 + 255 - 100);
  SlideForm palette = plain_form({.width = 64, .height = 64, .samples = 1, .photometric = 3});
  for (const std::size_t values : {767u, 769u}) {
    palette.entries = {{320, std::vector<std::uint16_t>(values, 7)}};
    CHECK(opened(palette).starts_with("its palette has " + std::to_string(values) + " values; 768 are needed"));
  }
}

namespace {

// One tile of 64 x 64 RGB, whose stream `change` changes.
WrittenSlide one_tile(const std::string& path, std::uint16_t compression,
                      const std::function<Bytes(const Bytes&)>& encode) {
  SlideForm form = plain_form({.width = 64, .height = 64});
  form.compression = compression;
  form.encode = [&, plain = form.encode](const Image& tile) { return StoredTile{encode(plain(tile).stream), tile}; };
  return write_slide(path, form);
}

Bytes deflated(const Bytes& values) {
  uLongf size = compressBound(static_cast<uLong>(values.size()));
  Bytes bytes(size);
  REQUIRE(compress(reinterpret_cast<Bytef*>(bytes.data()), &size, reinterpret_cast<const Bytef*>(values.data()),
                   static_cast<uLong>(values.size())) == Z_OK);
  bytes.resize(size);
  return bytes;
}

Bytes zstd_of(const Bytes& values) {
  Bytes bytes(ZSTD_compressBound(values.size()));
  bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), values.data(), values.size(), 3));
  return bytes;
}

Bytes longer(Bytes bytes, std::size_t by, int value = 7) {
  bytes.insert(bytes.end(), by, static_cast<std::byte>(value));
  return bytes;
}

Bytes shorter(Bytes bytes, std::size_t by = 1) {
  bytes.resize(bytes.size() - by);
  return bytes;
}

Bytes changed(Bytes bytes, std::size_t at) {
  bytes[at] ^= std::byte{1};
  return bytes;
}

}  // namespace

TEST_CASE("a stream may go on after its pixels, and is checked as far as it has a check sum") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const auto good = [&](std::uint16_t compression, const std::function<Bytes(const Bytes&)>& encode) {
    const WrittenSlide slide = one_tile(path, compression, encode);
    CHECK(image_of(read_sample(SlideSource({.files = path, .size = 64}), 0)["image"]) == slide.pixels);
  };
  const auto bad = [&](std::uint16_t compression, const std::string& why,
                       const std::function<Bytes(const Bytes&)>& encode) {
    one_tile(path, compression, encode);
    const SlideSource source({.files = path, .size = 64});
    REQUIRE_FALSE(source.slides().front().failure.has_value());
    const Error error = error_of([&] { (void)read_sample(source, 0); });
    CAPTURE(error.what());
    CHECK(error.file() == path);
    CHECK(mentions(error, "the tile at x 0, y 0 of level 0: " + why));
  };
  const auto plain = [](const Bytes& values) { return values; };
  good(COMPRESSION_NONE, plain);
  good(COMPRESSION_NONE, [](const Bytes& values) { return longer(values, 9); });
  bad(COMPRESSION_NONE, "the file says it has 12287 bytes; its pixels have 12288",
      [](const Bytes& values) { return shorter(values); });

  good(COMPRESSION_ADOBE_DEFLATE, deflated);
  good(COMPRESSION_ADOBE_DEFLATE, [](const Bytes& values) { return longer(deflated(values), 9); });
  good(COMPRESSION_ADOBE_DEFLATE, [](const Bytes& values) { return deflated(longer(values, 1)); });
  good(COMPRESSION_ADOBE_DEFLATE, [](const Bytes& values) { return deflated(longer(values, 12288)); });
  bad(COMPRESSION_ADOBE_DEFLATE, "its deflate stream has more than twice the bytes of its pixels",
      [](const Bytes& values) { return deflated(longer(values, 12289)); });
  bad(COMPRESSION_ADOBE_DEFLATE, "its deflate stream is damaged", [](const Bytes& values) {
    const Bytes stream = deflated(longer(values, 5000));
    return changed(stream, stream.size() - 1);
  });
  bad(COMPRESSION_ADOBE_DEFLATE, "its deflate stream is damaged", [](const Bytes& values) {
    const Bytes stream = deflated(values);
    return changed(stream, stream.size() - 1);
  });
  bad(COMPRESSION_ADOBE_DEFLATE, "its deflate stream is damaged",
      [](const Bytes& values) { return shorter(deflated(values)); });
  bad(COMPRESSION_ADOBE_DEFLATE, "its stream ends after 12287 bytes of pixels; its pixels have 12288",
      [](const Bytes& values) { return deflated(shorter(values)); });

  good(COMPRESSION_ZSTD, zstd_of);
  good(COMPRESSION_ZSTD, [](const Bytes& values) { return longer(zstd_of(values), 9); });
  bad(COMPRESSION_ZSTD, "its Zstandard stream has more bytes than its pixels",
      [](const Bytes& values) { return zstd_of(longer(values, 1)); });
  bad(COMPRESSION_ZSTD, "its stream ends after 12287 bytes of pixels; its pixels have 12288",
      [](const Bytes& values) { return zstd_of(shorter(values)); });
  bad(COMPRESSION_ZSTD,
      "its Zstandard stream can't be decoded: ", [](const Bytes& values) { return shorter(zstd_of(values)); });

  // PackBits: 96 runs of 128 bytes.
  const auto packed = [](const Bytes& values) {
    Bytes bytes;
    for (std::size_t i = 0; i < values.size(); i += 128) {
      bytes.push_back(std::byte{127});
      bytes.insert(bytes.end(), values.begin() + static_cast<std::ptrdiff_t>(i),
                   values.begin() + static_cast<std::ptrdiff_t>(i) + 128);
      bytes.push_back(std::byte{128});  // says nothing
    }
    return bytes;
  };
  good(COMPRESSION_PACKBITS, packed);
  good(COMPRESSION_PACKBITS, [&](const Bytes& values) { return longer(packed(values), 9); });
  bad(COMPRESSION_PACKBITS, "its stream ends after 12287 bytes of pixels; its pixels have 12288",
      [&](const Bytes& values) { return shorter(packed(values), 2); });

  bad(COMPRESSION_LZW, "its LZW has the form from before TIFF 6.0", [](const Bytes&) {
    return Bytes{std::byte{0}, std::byte{1}, std::byte{2}};
  });
  // Codes of 9 bits: 256, which clears the table, 65, and 300, which is not defined.
  bad(COMPRESSION_LZW, "its LZW has the code 300, which it has not defined (4 bytes into it)", [](const Bytes&) {
    return Bytes{std::byte{0x80}, std::byte{0x10}, std::byte{0x65}, std::byte{0x80}, std::byte{0}};
  });
  // 256 and 257, its end.
  bad(COMPRESSION_LZW, "its stream ends after 0 bytes of pixels; its pixels have 12288", [](const Bytes&) {
    return Bytes{std::byte{0x80}, std::byte{0x40}, std::byte{0x40}};
  });
}

TEST_CASE("changed slides of values are read or refused, whatever was changed") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const TIFFErrorHandler warnings = TIFFSetWarningHandler(nullptr), failures = TIFFSetErrorHandler(nullptr);
  Numbers numbers(numbered_seed(5));
  std::size_t read = 0, failed = 0, refused = 0;
  for (std::uint64_t round = 0; round < runs(60); ++round) {
    const Compression& compression = compressions[static_cast<std::size_t>(numbers.below(std::ssize(compressions)))];
    const bool gray = numbers.below(3) == 0, predicts = compression.predicts && numbers.below(2) == 0;
    const ValueForm form{.compression = compression.number,
                         .photometric = gray ? numbers.below(2) : PHOTOMETRIC_RGB,
                         .bits = numbers.below(2) == 0 ? 8 : 16,
                         .samples = (gray ? 1 : 3) + numbers.below(2),
                         .planes = 1 + numbers.below(2),
                         .predictor = predicts ? PREDICTOR_HORIZONTAL : PREDICTOR_NONE,
                         .extra = numbers.below(3),
                         .mode = numbers.below(2) == 0 ? "w" : "wb"};
    write_values(path, form, static_cast<std::uint32_t>(round));
    Bytes file(std::filesystem::file_size(path));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(file.data()), static_cast<std::streamsize>(file.size()));
    for (int change = 0; change < 20; ++change) {
      Bytes changed = file;
      for (int i = 0; i <= change % 4; ++i) {
        // The directory is at the end.
        const auto range =
            static_cast<std::int32_t>(numbers.below(4) == 0 ? std::min<std::size_t>(500, file.size()) : file.size());
        changed[file.size() - 1 - static_cast<std::size_t>(numbers.below(range))] =
            static_cast<std::byte>(numbers.below(256));
      }
      if (change % 5 == 4)
        changed.resize(static_cast<std::size_t>(numbers.below(static_cast<std::int32_t>(file.size()))));
      std::ofstream(path, std::ios::binary)
          .write(reinterpret_cast<const char*>(changed.data()), static_cast<std::streamsize>(changed.size()));
      const Slides slides{.files = path, .size = change % 2 == 0 ? 32 : 20, .edges = SlideEdges::pad};
      const SlideSource source(slides);
      const SlideInfo& info = source.slides().front();
      if (info.failure || info.codec == SlideCodec::openslide) {
        ++refused;
        continue;
      }
      const Pipeline parts = from(source);
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(source.size(), 30); ++i) {
        try {
          (void)parts.at(i);
          ++read;
        } catch (const Error& error) {
          ++failed;
          CHECK(error.sample_scoped());
          CHECK(error.file() == path);
          CHECK(mentions(error, "of level 0"));
        }
      }
    }
  }
  TIFFSetWarningHandler(warnings);
  TIFFSetErrorHandler(failures);
  CHECK(read > 0);
  CHECK(failed > 0);
  CHECK(refused > 0);
}

TEST_CASE("pixels of values that are not read go to OpenSlide, by their kind") {
  const TempFolder folder;
  const std::string path = folder / "a.tif";
  const auto refused = [&](const ValueForm& form) {
    write_values(path, form);
    const SlideInfo info = SlideSource({.files = path, .size = 16}).slides().front();
    return info.failure ? info.failure->cause() : info.why_openslide;
  };
  CHECK(refused({.photometric = PHOTOMETRIC_MINISBLACK, .bits = 16, .samples = 1}).empty());
  CHECK(
      refused({.photometric = PHOTOMETRIC_SEPARATED, .samples = 4}).starts_with("its photometric interpretation is 5"));
  CHECK(refused({.samples = 5}).starts_with("its pixels have 5 values of 8 bits"));
  CHECK(
      refused({.photometric = PHOTOMETRIC_MINISBLACK, .samples = 3}).starts_with("its pixels have 3 values of 8 bits"));
  CHECK(refused({.photometric = PHOTOMETRIC_MINISBLACK, .bits = 32, .samples = 1})
            .starts_with("its pixels have 1 values of 32 bits"));
  CHECK(refused({.compression = COMPRESSION_LZMA}).starts_with("its compression is 34925 (LZMA)"));
}

}  // namespace PENSTOCK_TEST_FILE
