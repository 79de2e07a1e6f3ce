// SPDX-License-Identifier: Apache-2.0
#include "plain_deflate.hpp"

#include <tiffio.h>

#include <stdexcept>
#include <vector>

namespace penstock::bench {

void write_deflate_slide(const PlainSlide& slide, const std::filesystem::path& file) {
  TIFF* const tiff = TIFFOpen(file.c_str(), "w8");
  if (tiff == nullptr) throw std::runtime_error("can't write " + file.string());
  const auto side = static_cast<std::uint32_t>(slide.tile());
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(slide.width()));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(slide.height()));
  TIFFSetField(tiff, TIFFTAG_TILEWIDTH, side);
  TIFFSetField(tiff, TIFFTAG_TILELENGTH, side);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
  TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  PlainTiles tiles(slide, JpegOptions::Decoder::automatic);
  std::vector<std::byte> pixels(static_cast<std::size_t>(side) * side * 3);
  bool written = true;
  for (std::int64_t tile = 0; tile < slide.columns() * slide.rows(); ++tile) {
    tiles.decode(tile, {}, pixels.data(), static_cast<std::ptrdiff_t>(side) * 3);
    written = written && TIFFWriteEncodedTile(tiff, static_cast<std::uint32_t>(tile), pixels.data(),
                                              static_cast<tmsize_t>(pixels.size())) > 0;
  }
  TIFFClose(tiff);
  if (!written) throw std::runtime_error("can't write tiles to " + file.string());
}

void PlainDeflate::decode(std::span<const std::byte> stream, std::int64_t side, std::byte* into) const {
  const auto row_bytes = static_cast<std::size_t>(side) * 3;
  if (libdeflate_zlib_decompress(decompressor_.get(), stream.data(), stream.size(), into,
                                 row_bytes * static_cast<std::size_t>(side), nullptr) != LIBDEFLATE_SUCCESS)
    throw std::runtime_error("libdeflate can't decode a tile");
  auto* row = reinterpret_cast<std::uint8_t*>(into);
  for (std::int64_t y = 0; y < side; ++y, row += row_bytes) {
    std::uint8_t red = 0, green = 0, blue = 0;
    for (std::size_t i = 0; i < row_bytes; i += 3) {
      row[i] = red = static_cast<std::uint8_t>(red + row[i]);
      row[i + 1] = green = static_cast<std::uint8_t>(green + row[i + 1]);
      row[i + 2] = blue = static_cast<std::uint8_t>(blue + row[i + 2]);
    }
  }
}

}  // namespace penstock::bench
