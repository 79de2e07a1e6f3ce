#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/dtype.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Result options of `decode_png`.
struct PngOptions {
  /// Which channels come out.
  enum Color : std::uint8_t {
    rgb,        ///< [H, W, 3]; palettes are expanded, grey images have three equal channels, opacity is left away
    gray,       ///< [H, W, 1]; of colours, (19595 R + 38470 G + 7471 B + 32768) / 65536, rounded down, as Pillow's "L"
    rgba,       ///< [H, W, 4]; opacity 255 where the file says none
    as_stored,  ///< [H, W, C], C = 1 grey, 2 grey with opacity, 3 RGB or palette, 4 RGB or palette with opacity
    labels,  ///< [H, W, 1]: the numbers as they are in the file, palette indices or grey values, neither expanded nor
             ///< scaled; for label masks. Colours are unsupported, and 16 bits where `dtype` is u8
  };
  /// Which channels come out.
  Color color = rgb;
  /// u8, or u16: 16-bit values as they are, in the machine's byte order, others times 257, so that white is 65535 (but
  /// `labels` as they are).
  DType dtype = DType::u8;
  bool high_byte = false;  ///< u8: true: of 16-bit values the upper 8 bits are kept; false: they are unsupported
  /// An image that declares more is refused before memory is taken.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
};

/// Decodes PNG of every colour type, bit depth and interlacing, to 8 or 16 bits. Grey values of 1, 2 and 4 bits are
/// scaled to 0..255, or 0..65535. Gamma, colour profiles and an orientation (eXIf) are not applied. Stages that follow
/// decide how far down the image is decoded (to its end where it is interlaced); its pixels are those of a whole
/// decode.
///
/// The check sums of all chunks are compared in any case, so damage is noticed wherever it is. An index without a
/// colour is an error where the pixel is decoded. What follows the end chunk is ignored.
///
/// `field`: u8 [bytes] to u8 [H, W, 3] (or as `color` and `dtype` say). Image stages crop, pad, flip, turn, convert and
/// normalize images of 16 bits, but resize them by nearest only. Errors, all of one sample: corrupt (with a byte
/// offset), unsupported (16 bits for u8, labels in colour, a critical chunk of another standard), limit_exceeded.
PENSTOCK_API Stage decode_png(std::string field = "image", const PngOptions& options = {});

/// The codec in it, for use without a pipeline. Any thread. @throws Error(invalid_argument) for a limit below 1 and
/// for another dtype.
PENSTOCK_API std::shared_ptr<const ImageDecoder> png_decoder(const PngOptions& options = {});

}  // namespace penstock
