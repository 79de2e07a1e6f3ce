// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include <tiffio.h>

#include <penstock/transforms/decode_tiff.hpp>

#include "../decoders_beside.hpp"
#include "../photographs.hpp"
#include "../pictures.hpp"
#include "rows.hpp"

namespace penstock::bench {

namespace {

constexpr std::int32_t tile_side = 128;

// A file in memory, for libtiff: one that grows, or one that is there.
struct TiffMemory {
  std::vector<std::byte> made;
  std::span<const std::byte> file;
  std::size_t at = 0;

  static TiffMemory& of(thandle_t handle) { return *static_cast<TiffMemory*>(handle); }
  static tmsize_t read(thandle_t handle, void* to, tmsize_t bytes) {
    TiffMemory& self = of(handle);
    const std::size_t some =
        std::min(self.file.size() - std::min(self.at, self.file.size()), static_cast<std::size_t>(bytes));
    std::memcpy(to, self.file.data() + self.at, some);
    self.at += some;
    return static_cast<tmsize_t>(some);
  }
  static tmsize_t write(thandle_t handle, void* from, tmsize_t bytes) {
    TiffMemory& self = of(handle);
    const auto count = static_cast<std::size_t>(bytes);
    if (self.made.size() < self.at + count) self.made.resize(self.at + count);
    std::memcpy(self.made.data() + self.at, from, count);
    self.file = self.made;
    self.at += count;
    return bytes;
  }
  static toff_t seek(thandle_t handle, toff_t to, int from) {
    TiffMemory& self = of(handle);
    if (from == SEEK_CUR) to += self.at;
    if (from == SEEK_END) to += self.file.size();
    return self.at = static_cast<std::size_t>(to);
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t handle) { return of(handle).file.size(); }
  static int map(thandle_t handle, void** base, toff_t* size) {
    *base = const_cast<std::byte*>(of(handle).file.data());
    *size = of(handle).file.size();
    return 1;
  }
  static void unmap(thandle_t, void*, toff_t) {}
  TIFF* open(const char* mode) { return TIFFClientOpen("", mode, this, read, write, seek, close, size, map, unmap); }
};

std::vector<std::byte> tiff_of(const Picture& picture, bool tiled) {
  const auto& [pixels, size, channels] = picture;
  TiffMemory memory;
  TIFF* const tiff = memory.open("wm");
  if (tiff == nullptr) throw std::runtime_error("libtiff did not encode a picture");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, size.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, size.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  const std::size_t row = 3 * static_cast<std::size_t>(size.width);
  if (tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, tile_side);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, tile_side);
    std::vector<std::uint8_t> tile(std::size_t{tile_side} * tile_side * 3);
    std::uint32_t number = 0;
    for (std::int32_t y = 0; y < size.height; y += tile_side)
      for (std::int32_t x = 0; x < size.width; x += tile_side) {
        for (std::int32_t line = 0; line < std::min(tile_side, size.height - y); ++line)
          std::memcpy(tile.data() + static_cast<std::size_t>(line) * tile_side * 3,
                      pixels.data() + static_cast<std::size_t>(y + line) * row + 3 * static_cast<std::size_t>(x),
                      3 * static_cast<std::size_t>(std::min(tile_side, size.width - x)));
        TIFFWriteEncodedTile(tiff, number++, tile.data(), static_cast<tmsize_t>(tile.size()));
      }
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(tiff, 0));
    for (std::int32_t y = 0; y < size.height; ++y)
      TIFFWriteScanline(tiff, const_cast<std::uint8_t*>(pixels.data()) + static_cast<std::size_t>(y) * row,
                        static_cast<std::uint32_t>(y), 0);
  }
  TIFFClose(tiff);
  return std::move(memory.made);
}

// Uses libtiff as its manual says: strip by strip into the image, or tile by tile through a buffer.
class PlainTiff {
 public:
  const std::uint8_t* decode(std::span<const std::byte> file) {
    TiffMemory memory{.made = {}, .file = file};
    TIFF* const tiff = memory.open("r");
    std::uint32_t width = 0, height = 0;
    TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    const std::size_t row = std::size_t{3} * width;
    pixels_.resize(row * height);
    bool right = true;
    if (TIFFIsTiled(tiff) != 0) {
      tile_.resize(static_cast<std::size_t>(TIFFTileSize(tiff)));
      for (std::uint32_t y = 0; y < height; y += tile_side)
        for (std::uint32_t x = 0; x < width; x += tile_side) {
          right = right && TIFFReadTile(tiff, tile_.data(), x, y, 0, 0) > 0;
          const std::size_t bytes = std::size_t{3} * std::min<std::uint32_t>(tile_side, width - x);
          for (std::uint32_t line = 0; line < std::min<std::uint32_t>(tile_side, height - y); ++line)
            std::memcpy(pixels_.data() + (y + line) * row + std::size_t{3} * x,
                        tile_.data() + std::size_t{line} * tile_side * 3, bytes);
        }
    } else {
      const tmsize_t strip = TIFFStripSize(tiff);
      for (std::uint32_t i = 0; i < TIFFNumberOfStrips(tiff); ++i) {
        const tmsize_t at = static_cast<tmsize_t>(i) * strip, left = static_cast<tmsize_t>(pixels_.size()) - at;
        right = right && TIFFReadEncodedStrip(tiff, i, pixels_.data() + at, std::min(strip, left)) > 0;
      }
    }
    TIFFClose(tiff);
    if (!right) throw std::runtime_error("libtiff refused a picture");
    return pixels_.data();
  }

 private:
  std::vector<std::uint8_t> pixels_, tile_;
};

Row against_libtiff(const RowSpec& spec, const Settings& settings, bool tiled) {
  const Files files =
      encoded_all(photographs(settings, picture_size), [&](const Picture& picture) { return tiff_of(picture, tiled); });
  PlainTiff plain;
  Row row = decoder_beside(spec, settings, files, *tiff_decoder(),
                           [&](std::span<const std::byte> file) { return plain.decode(file); });
  note_decoders_beside(row, settings, "pixels", files, ".tif");
  return row;
}

}  // namespace

Row tiff_strips(const RowSpec& spec, const Settings& settings) { return against_libtiff(spec, settings, false); }
Row tiff_tiles(const RowSpec& spec, const Settings& settings) { return against_libtiff(spec, settings, true); }

}  // namespace penstock::bench
