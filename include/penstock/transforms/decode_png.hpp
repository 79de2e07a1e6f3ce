// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `decode_png`. All are result options.
struct PngOptions {
  /// Which channels the result has.
  enum Color : std::uint8_t {
    rgb,  ///< [H, W, 3]; palettes are expanded, grey images get three equal channels, opacity is left out
    /// [H, W, 1]. Colours become (19595 R + 38470 G + 7471 B + 32768) / 65536, rounded down, like Pillow's "L".
    gray,
    rgba,       ///< [H, W, 4]; if the file has no opacity, every pixel gets the largest value (255 or 65535)
    as_stored,  ///< [H, W, C]: 1 channel for grey, 2 for grey with opacity, 3 for RGB or a palette, 4 for RGB or a
                ///< palette with opacity
    /// [H, W, 1], for label masks: the numbers that are stored in the file (palette indices or grey values), neither
    /// expanded nor scaled. Images in RGB or with opacity are unsupported. Images of 16 bits are unsupported if `dtype`
    /// is u8.
    labels,
  };
  /// Which channels the result has.
  Color color = rgb;
  /// u8 or u16. With u16, 16-bit values stay as they are, in the machine's byte order. Other values are multiplied by
  /// 257, so that white is 65535. Values of `labels` are never multiplied.
  DType dtype = DType::u8;
  /// For images of 16 bits, if `dtype` is u8 and `color` is not `labels`. If true, values keep their upper 8 bits. If
  /// false, such an image is unsupported.
  bool high_byte = false;
  /// Limit on the pixels that an image declares. A larger image is refused before memory is taken.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
};

/// Decodes PNG of every colour type, bit depth and interlacing, to 8 or 16 bits. Scales grey values of 1, 2 and 4 bits
/// to 0..255, or to 0..65535, unless `color` is `labels`. Does not apply gamma, colour profiles or an orientation
/// (eXIf). Image stages that follow decide which rows are decoded. An interlaced image is always decoded to its end.
/// Pixels are the same as if the whole image were decoded. While a runner decodes an image, it needs memory for all of
/// its stored pixels, and twice that if the image is interlaced. Images with more than 64 MiB of stored pixels are
/// decoded row by row, more slowly. So are images for which the runner has too little memory.
///
/// The checksums of all chunks are always compared, so damage is noticed everywhere. A palette index without a colour
/// is an error if its pixel is decoded. Bytes after the end chunk are ignored.
///
/// `field`: u8 [bytes] becomes u8 [H, W, 3] (or as `color` and `dtype` set). Image stages can crop, pad, flip, turn,
/// convert and normalize images of 16 bits, but resize them only by nearest.
/// Errors of decoding are of one sample: corrupt (with a byte offset), unsupported, limit_exceeded. Unsupported are 16
/// bits for u8, labels in colour, and critical chunks that the PNG standard does not have.
/// @throws Error(invalid_argument) like `png_decoder`.
PENSTOCK_API Stage decode_png(std::string field = "image", const PngOptions& options = {});

/// Returns the codec of the stage, for use without a pipeline. Any thread may call it.
/// @throws Error(invalid_argument) if `max_pixels` is below 1, or `dtype` is neither u8 nor u16.
PENSTOCK_API std::shared_ptr<const ImageDecoder> png_decoder(const PngOptions& options = {});

}  // namespace penstock
