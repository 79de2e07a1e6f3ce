// SPDX-License-Identifier: Apache-2.0
#include "transforms/codec/tiff/tiff_files.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace penstock_test {

namespace {

using penstock::DType;
using penstock::Size;
using penstock::TiffOptions;

// A file in memory, for libtiff.
struct Memory {
  Bytes bytes;
  std::size_t at = 0;

  static Memory& of(thandle_t handle) { return *static_cast<Memory*>(handle); }
  static tmsize_t read(thandle_t handle, void* to, tmsize_t bytes) {
    Memory& self = of(handle);
    const std::size_t some =
        self.at >= self.bytes.size() ? 0 : std::min(self.bytes.size() - self.at, static_cast<std::size_t>(bytes));
    std::memcpy(to, self.bytes.data() + self.at, some);
    self.at += some;
    return static_cast<tmsize_t>(some);
  }
  static tmsize_t write(thandle_t handle, void* from, tmsize_t bytes) {
    Memory& self = of(handle);
    const auto count = static_cast<std::size_t>(bytes);
    if (self.bytes.size() < self.at + count) self.bytes.resize(self.at + count);
    std::memcpy(self.bytes.data() + self.at, from, count);
    self.at += count;
    return bytes;
  }
  static toff_t seek(thandle_t handle, toff_t to, int from) {
    Memory& self = of(handle);
    if (from == SEEK_CUR) to += self.at;
    if (from == SEEK_END) to += self.bytes.size();
    return self.at = static_cast<std::size_t>(to);
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t handle) { return of(handle).bytes.size(); }
  // Prints nothing.
  ::TIFF* open(const char* mode) {
    const TIFFErrorHandlerExtR silent = [](::TIFF*, void*, const char*, const char*, std::va_list) { return 1; };
    TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
    TIFFOpenOptionsSetWarningHandlerExtR(options, silent, nullptr);
    TIFFOpenOptionsSetErrorHandlerExtR(options, silent, nullptr);
    ::TIFF* const tiff = TIFFClientOpenExt("", mode, this, read, write, seek, close, size, nullptr, nullptr, options);
    TIFFOpenOptionsFree(options);
    return tiff;
  }
};

bool is_lossy(int compression) { return compression == COMPRESSION_JPEG; }

}  // namespace

std::vector<TiffKind> tiff_kinds() {
  std::vector<TiffKind> meanings;
  for (const int bits : {1, 2, 4, 8, 16})
    for (const int gray : {PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE})
      meanings.push_back({.photometric = gray, .bits = bits});
  for (const int bits : {1, 2, 4, 8}) meanings.push_back({.photometric = PHOTOMETRIC_PALETTE, .bits = bits});
  meanings.push_back({.photometric = PHOTOMETRIC_PALETTE, .small_palette = true});
  for (const int bits : {8, 16}) {
    meanings.push_back({.photometric = PHOTOMETRIC_RGB, .bits = bits});
    for (const int extra : {EXTRASAMPLE_UNSPECIFIED, EXTRASAMPLE_ASSOCALPHA, EXTRASAMPLE_UNASSALPHA})
      for (const int photometric : {PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_RGB})
        meanings.push_back({.photometric = photometric, .bits = bits, .extra = extra});
  }
  constexpr int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW,  COMPRESSION_PACKBITS, COMPRESSION_ADOBE_DEFLATE,
                                  COMPRESSION_ZSTD, COMPRESSION_LZMA, COMPRESSION_DEFLATE};
  constexpr const char* modes[] = {"wl", "wb", "wl8", "wb8"};
  std::vector<TiffKind> kinds;
  for (TiffKind kind : meanings)
    for (const std::int32_t tile : {0, 16})
      for (const bool planes : {false, true}) {
        kind.tile = tile, kind.planes = planes;
        kind.compression = compressions[kinds.size() % std::size(compressions)];
        if (TIFFIsCODECConfigured(static_cast<std::uint16_t>(kind.compression)) == 0)
          kind.compression = COMPRESSION_LZW;
        kind.mode = modes[kinds.size() / 3 % std::size(modes)];
        kind.predictor = kinds.size() % 2 == 0 && kind.bits >= 8 && kind.compression != COMPRESSION_NONE &&
                         kind.compression != COMPRESSION_PACKBITS;
        kinds.push_back(kind);
      }
  return kinds;
}

TiffFile::TiffFile(const TiffKind& kind, Size size, std::uint64_t seed) : kind_(kind), size_(size) {
  Numbers numbers(seed);
  const int samples = kind.samples();
  const std::size_t count =
      static_cast<std::size_t>(size.height) * static_cast<std::size_t>(size.width) * static_cast<std::size_t>(samples);
  if (is_lossy(kind.compression)) {
    const Image smooth = photo({size.height, size.width, samples}, seed);
    values_.assign(smooth.pixels.begin(), smooth.pixels.end());
  } else {
    for (std::size_t i = 0; i < count; ++i)
      values_.push_back(static_cast<std::uint16_t>(numbers.next() & ((1u << kind.bits) - 1)));
  }
  for (auto& colors : palette_)
    for (int i = 0; i < 1 << std::min(kind.bits, 8); ++i)
      colors.push_back(static_cast<std::uint16_t>(numbers.next() & (kind.small_palette ? 0xffu : 0xffffu)));
  if (!kind.small_palette) palette_[0][0] = 0xabcd;  // not small by chance
}

std::uint32_t TiffFile::sample(std::int32_t y, std::int32_t x, int s) const {
  return values_[(static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.width) + static_cast<std::size_t>(x)) *
                     static_cast<std::size_t>(kind_.samples()) +
                 static_cast<std::size_t>(s)];
}

// Samples [first, first + count) of the pixels of a box. Those that are not in the image are 0.
Bytes TiffFile::packed(std::int32_t top, std::int32_t left, Size size, int first, int count) const {
  Bytes rows;
  for (std::int32_t y = top; y < top + size.height; ++y) {
    std::uint32_t bits = 0;
    int filled = 0;
    for (std::int32_t x = left; x < left + size.width; ++x)
      for (int s = first; s < first + count; ++s) {
        const std::uint32_t value = y < size_.height && x < size_.width ? sample(y, x, s) : 0;
        if (kind_.bits == 16) {
          const auto word = static_cast<std::uint16_t>(value);  // libtiff swaps it where it has to
          const auto* const bytes = reinterpret_cast<const std::byte*>(&word);
          rows.insert(rows.end(), bytes, bytes + 2);
          continue;
        }
        bits = bits << kind_.bits | value;
        filled += kind_.bits;
        if (filled == 8) rows.push_back(static_cast<std::byte>(bits)), bits = 0, filled = 0;
      }
    if (filled != 0) rows.push_back(static_cast<std::byte>(bits << (8 - filled)));
  }
  return rows;
}

void TiffFile::write(::TIFF* tiff, const std::function<void(::TIFF*)>& more) const {
  const int samples = kind_.samples();
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(size_.width));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(size_.height));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind_.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind_.planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind_.compression);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind_.photometric);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, kind_.orientation);
  if (kind_.extra >= 0) {
    const auto extra = static_cast<std::uint16_t>(kind_.extra);
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &extra);
  }
  if (kind_.photometric == PHOTOMETRIC_PALETTE)
    TIFFSetField(tiff, TIFFTAG_COLORMAP, palette_[0].data(), palette_[1].data(), palette_[2].data());
  if (kind_.photometric == PHOTOMETRIC_YCBCR) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  if (kind_.predictor) TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
  // The encoder of the usual preset takes hundreds of megabytes for each strip.
  if (kind_.compression == COMPRESSION_LZMA) TIFFSetField(tiff, TIFFTAG_LZMAPRESET, 0);
  if (kind_.compression == COMPRESSION_WEBP) TIFFSetField(tiff, TIFFTAG_WEBP_LOSSLESS, 1);
  const std::int32_t rows = kind_.compression == COMPRESSION_JPEG ? 16 : 5;
  const std::int32_t height = kind_.tile != 0 ? kind_.tile : rows, width = kind_.tile != 0 ? kind_.tile : size_.width;
  if (kind_.tile != 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kind_.tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, kind_.tile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows);
  }
  if (more) more(tiff);
  std::uint32_t number = 0;
  const int together = kind_.planes ? 1 : samples;
  for (int first = 0; first < samples; first += together)
    for (std::int32_t y = 0; y < size_.height; y += height)
      for (std::int32_t x = 0; x < size_.width; x += width, ++number) {
        const std::int32_t part = kind_.tile != 0 ? height : std::min(height, size_.height - y);
        Bytes chunk = packed(y, x, {part, width}, first, together);
        const auto bytes = static_cast<tmsize_t>(chunk.size());
        const tmsize_t done = kind_.tile != 0 ? TIFFWriteEncodedTile(tiff, number, chunk.data(), bytes)
                                              : TIFFWriteEncodedStrip(tiff, number, chunk.data(), bytes);
        if (done != bytes) throw std::runtime_error("libtiff did not write a strip or tile");
      }
  if (TIFFWriteDirectory(tiff) != 1) throw std::runtime_error("libtiff did not write a directory");
}

Bytes TiffFile::bytes() const {
  return written(kind_.mode, [&](::TIFF* tiff) { write(tiff); });
}

Image TiffFile::expected(TiffOptions::Color color, DType dtype) const {
  const bool colored = kind_.photometric == PHOTOMETRIC_RGB || kind_.photometric == PHOTOMETRIC_PALETTE;
  const bool transparent = kind_.extra == EXTRASAMPLE_ASSOCALPHA || kind_.extra == EXTRASAMPLE_UNASSALPHA;
  int channels = 1;
  if (color == TiffOptions::rgb) channels = 3;
  if (color == TiffOptions::rgba) channels = 4;
  if (color == TiffOptions::as_stored) channels = (colored ? 3 : 1) + (transparent ? 1 : 0);
  Image image({size_.height, size_.width, channels, dtype});
  const std::uint32_t most = (1u << kind_.bits) - 1;
  std::size_t at = 0;
  const auto put = [&](std::uint32_t value) {
    if (dtype == DType::u16) {
      const auto word = static_cast<std::uint16_t>(value);
      std::memcpy(image.pixels.data() + at, &word, 2);
      at += 2;
    } else {
      image.pixels[at++] = static_cast<std::uint8_t>(value);
    }
  };
  // A value of `bits` as one of the result.
  const auto as_result = [&](std::uint32_t value, int bits) {
    if (bits < 8) value = value * 255 / ((1u << bits) - 1), bits = 8;
    if (dtype == DType::u16) return bits == 16 ? value : value * 257;
    return bits == 16 ? value >> 8 : value;
  };
  for (std::int32_t y = 0; y < size_.height; ++y)
    for (std::int32_t x = 0; x < size_.width; ++x) {
      if (color == TiffOptions::labels) {
        put(sample(y, x, 0));
        continue;
      }
      std::uint32_t c[3], opacity = most;
      if (transparent) opacity = sample(y, x, kind_.samples() - 1);
      for (int i = 0; i < 3; ++i) {
        if (kind_.photometric == PHOTOMETRIC_PALETTE) {
          c[i] = as_result(palette_[i][sample(y, x, 0)], kind_.small_palette ? 8 : 16);
          continue;
        }
        std::uint32_t value = sample(y, x, colored ? i : 0);
        if (kind_.photometric == PHOTOMETRIC_MINISWHITE) value = most - value;
        if (kind_.extra == EXTRASAMPLE_ASSOCALPHA && opacity != 0) value = std::min(most, value * most / opacity);
        c[i] = as_result(value, kind_.bits);
      }
      const std::uint32_t gray = colored ? (19595 * c[0] + 38470 * c[1] + 7471 * c[2] + 32768) >> 16 : c[0];
      if (channels <= 2) {
        put(gray);
      } else {
        for (const std::uint32_t value : c) put(value);
      }
      if (channels % 2 == 0) put(as_result(opacity, kind_.bits));
    }
  return image;
}

Bytes written(const char* mode, const std::function<void(::TIFF*)>& write) {
  Memory memory;
  ::TIFF* const tiff = memory.open(mode);
  if (tiff == nullptr) throw std::runtime_error("libtiff can't write");
  write(tiff);
  TIFFClose(tiff);
  return std::move(memory.bytes);
}

Image read_by_libtiff(const Bytes& bytes) {
  Memory memory{bytes};
  ::TIFF* const tiff = memory.open("r");
  if (tiff == nullptr) throw std::runtime_error("libtiff can't read");
  std::uint32_t width = 0, height = 0;
  std::uint16_t orientation = 1;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  std::vector<std::uint32_t> pixels(std::size_t{width} * height);
  const bool read = TIFFReadRGBAImageOriented(tiff, width, height, pixels.data(), orientation, 1) == 1;
  TIFFClose(tiff);
  if (!read) throw std::runtime_error("libtiff did not decode an image");
  Image image({static_cast<std::int32_t>(height), static_cast<std::int32_t>(width), 3});
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    image.pixels[3 * i] = static_cast<std::uint8_t>(TIFFGetR(pixels[i]));
    image.pixels[3 * i + 1] = static_cast<std::uint8_t>(TIFFGetG(pixels[i]));
    image.pixels[3 * i + 2] = static_cast<std::uint8_t>(TIFFGetB(pixels[i]));
  }
  return image;
}

// Rows and columns of the stored image begin where the specification's table says.
Image upright(const Image& stored, int orientation) {
  const bool turned = orientation >= 5;
  const std::int32_t height = stored.shape.height, width = stored.shape.width;
  Image image({turned ? width : height, turned ? height : width, stored.shape.channels});
  const bool bottom = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const bool right = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  for (std::int32_t y = 0; y < height; ++y)
    for (std::int32_t x = 0; x < width; ++x)
      for (std::int32_t c = 0; c < stored.shape.channels; ++c) {
        // The first stored row is the top, the bottom, the left or the right side, and so is the first column.
        const std::int32_t row = turned ? x : y, column = turned ? y : x;
        const std::int32_t rows = turned ? width : height, columns = turned ? height : width;
        image.at(bottom ? rows - 1 - row : row, right ? columns - 1 - column : column, c) = stored.at(y, x, c);
      }
  return image;
}

}  // namespace penstock_test
