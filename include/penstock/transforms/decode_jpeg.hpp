#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/export.hpp>
#include <penstock/image_stage.hpp>
#include <penstock/stage.hpp>

namespace penstock {

/// Result options of `decode_jpeg`.
struct JpegOptions {
  enum Color : std::uint8_t {
    rgb,        ///< [H, W, 3]; grey images have three equal channels
    gray,       ///< [H, W, 1]
    as_stored,  ///< [H, W, 1] for grey images, [H, W, 3] for others
  };
  Color color = rgb;
  /// An image that declares more is refused before memory is taken; so are coefficients (of a progressive image) above
  /// 3 bytes each.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  int max_scans = 64;            ///< a progressive image with more scans is refused
  bool accept_warnings = false;  ///< true: damage that libjpeg can guess its way around makes pixels, not an error
};

/// Decodes baseline, extended and progressive JPEG of 8 bits, Huffman coded, grey or in three colours, with libjpeg's
/// exact DCT and smooth ("fancy") upsampling. Stages that follow decide which part is decoded; its pixels are those of
/// a whole decode. Where a baseline JPEG has restart markers that divide its rows of MCUs evenly (`seekable_jpeg` makes
/// such files), a part is decoded from its own segments alone; markers that are not those of the image's size are then
/// an error (corrupt) wherever they are, other damage only in these segments.
///
/// `field`: u8 [bytes] to u8 [H, W, 3] (or as `color` says). Errors, all of one sample: corrupt (with the byte offset
/// where the damage was noticed), unsupported (CMYK, 12 bits, arithmetic coding, lossless), limit_exceeded.
PENSTOCK_API Stage decode_jpeg(std::string field = "image", const JpegOptions& options = {});

/// The codec behind it, for use without a pipeline. Any thread. @throws Error(invalid_argument) for limits below 1.
PENSTOCK_API std::shared_ptr<const ImageDecoder> jpeg_decoder(const JpegOptions& options = {});

}  // namespace penstock
