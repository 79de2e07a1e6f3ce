// SPDX-License-Identifier: Apache-2.0
// Levels of real slides against their tiles, one by one, as libtiff and OpenJPEG alone decode them.
#include <penstock/sources/slide.hpp>

#include <tiffio.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "sources/slide/jpeg2000_files.hpp"
#include "sources/slide/slide_files.hpp"
#include "sources/slide/slide_images.hpp"
#include "support/catch.hpp"

namespace PENSTOCK_TEST_FILE {

using namespace penstock;
using namespace penstock_test;

namespace {

// The tile of the directory that `tiff` stands at.
Image tile_of(TIFF* tiff, std::uint32_t number, std::int32_t width, std::int32_t height) {
  std::uint16_t compression = 0;
  TIFFGetField(tiff, TIFFTAG_COMPRESSION, &compression);
  Image image({height, width, 3});
  if (compression == COMPRESSION_JPEG) {
    TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    const auto bytes = static_cast<tmsize_t>(image.pixels.size());
    REQUIRE(TIFFReadEncodedTile(tiff, number, image.pixels.data(), bytes) == bytes);
    return image;
  }
  Bytes stream(static_cast<std::size_t>(TIFFGetStrileByteCount(tiff, number)));
  REQUIRE(TIFFReadRawTile(tiff, number, stream.data(), static_cast<tmsize_t>(stream.size())) ==
          static_cast<tmsize_t>(stream.size()));
  return decode_jpeg2000(stream, image.shape, {.rgb = false});
}

// Every tile of a level; returns how many.
std::uint64_t compare(const std::string& path, std::int32_t level, const SlideLevel& size, int most) {
  const std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff(TIFFOpen(path.c_str(), "r"), TIFFClose);
  REQUIRE(tiff != nullptr);
  const auto is_level = [&] {
    std::uint32_t width = 0;
    return TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) == 1 && width == size.width &&
           TIFFIsTiled(tiff.get()) != 0;
  };
  while (!is_level()) REQUIRE(TIFFReadDirectory(tiff.get()) == 1);
  REQUIRE(size.tile_width == size.tile_height);
  std::uint64_t tiles = 0;
  const std::int64_t columns = (size.width + size.tile_width - 1) / size.tile_width;
  for_each_record({.files = path, .level = level, .size = size.tile_width, .edges = SlideEdges::shrink},
                  [&](const Image& image, std::int64_t, std::int64_t) {
                    const auto number = static_cast<std::uint32_t>(tiles++);
                    const Image tile = tile_of(tiff.get(), number, size.tile_width, size.tile_height);
                    const Image there = cut(tile, {0, 0, image.shape.height, image.shape.width});
                    CAPTURE(path, level, number, columns);
                    REQUIRE(most_different(image, there) <= most);
                  });
  return tiles;
}

}  // namespace

TEST_CASE("levels of real slides are their tiles as libtiff and OpenJPEG decode them") {
  const char* const slides = std::getenv("PENSTOCK_SLIDES");
  if (slides == nullptr) PENSTOCK_SKIP("PENSTOCK_SLIDES names no folder: 0 slides were read");
  const TIFFErrorHandler warnings = TIFFSetWarningHandler(nullptr);
  std::size_t levels = 0;
  for (const char* const name : {"CMU-1-Small-Region.svs", "cmu-pyr-jpeg420-256.tif", "synth-aperio-33003.svs"}) {
    const std::string path = std::string(slides) + "/" + name;
    const SlideInfo info = SlideSource({.files = path, .size = 16}).slides().front();
    // OpenJPEG's samples become RGB by real numbers here.
    const int most = info.codec == SlideCodec::jpeg2000 ? 1 : 0;
    for (std::size_t level = 0; level < info.levels.size(); ++level, ++levels)
      CHECK(compare(path, static_cast<std::int32_t>(level), info.levels[level], most) > 0);
  }
  TIFFSetWarningHandler(warnings);
  CHECK(levels == 1 + 5 + 2);
}

}  // namespace PENSTOCK_TEST_FILE
