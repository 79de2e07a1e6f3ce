// SPDX-License-Identifier: Apache-2.0
// TIFF files of every kind, written by libtiff, and what must come out of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <tiffio.h>

#include <penstock/transforms/decode_tiff.hpp>

#include "support/test_images.hpp"

namespace penstock_test {

using Bytes = std::vector<std::byte>;

// All choices.
inline constexpr penstock::TiffOptions::Color tiff_colors[] = {
    penstock::TiffOptions::rgb, penstock::TiffOptions::gray, penstock::TiffOptions::rgba,
    penstock::TiffOptions::as_stored, penstock::TiffOptions::labels};

struct TiffKind {
  int photometric = PHOTOMETRIC_RGB;
  int bits = 8;
  int extra = -1;  // the kind of a further sample, like EXTRASAMPLE_UNASSALPHA; -1 if there is none
  bool planes = false;
  std::int32_t tile = 0;  // the side of tiles; 0 for strips of 5 rows
  int compression = COMPRESSION_NONE;
  const char* mode = "wl";  // wl, wb, and the same with 8 for BigTIFF
  bool predictor = false;
  int orientation = 1;
  bool small_palette = false;  // of colours of 8 bits

  int samples() const {
    return (photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_YCBCR ? 3 : 1) + (extra >= 0 ? 1 : 0);
  }
};

// Every meaning of values with every number of bits, in strips and tiles, together and in planes, with compressions and
// byte orders by turns.
std::vector<TiffKind> tiff_kinds();

class TiffFile {
 public:
  // Random samples; smooth ones if the compression is lossy.
  TiffFile(const TiffKind& kind, penstock::Size size, std::uint64_t seed);

  Bytes bytes() const;
  // Writes the image as the next directory. `more` sets further tags.
  void write(::TIFF* tiff, const std::function<void(::TIFF*)>& more = {}) const;
  // The image, worked out from the samples, as it is stored.
  Image expected(penstock::TiffOptions::Color color, penstock::DType dtype = penstock::DType::u8) const;

 private:
  std::uint32_t sample(std::int32_t y, std::int32_t x, int s) const;
  Bytes packed(std::int32_t top, std::int32_t left, penstock::Size size, int first, int count) const;

  TiffKind kind_;
  penstock::Size size_;
  std::vector<std::uint16_t> values_;  // [H][W][samples]
  std::vector<std::uint16_t> palette_[3];
};

// What libtiff writes. `mode` is like TiffKind::mode.
Bytes written(const char* mode, const std::function<void(::TIFF*)>& write);
// RGB of TIFFReadRGBAImageOriented, as the image is stored.
Image read_by_libtiff(const Bytes& bytes);
// An image as a viewer shows it, from its stored pixels. Values of 8 bits.
Image upright(const Image& stored, int orientation);

}  // namespace penstock_test
