#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

namespace penstock {

/// Result options of `decode_image`: those of `JpegOptions` and `PngOptions` that both have, and those of one.
struct DecodeImageOptions {
  /// Which channels come out.
  enum Color : std::uint8_t {
    rgb,        ///< [H, W, 3]; grey images have three equal channels, opacity is left away
    gray,       ///< [H, W, 1]
    as_stored,  ///< [H, W, C]: JPEG 1 or 3 channels, PNG 1 to 4
    labels,     ///< [H, W, 1]: of PNGs the numbers as they are in the file, as `PngOptions::labels`; for label masks.
                ///< JPEGs, which keep no number as it was, are unsupported
  };
  /// Which channels come out.
  Color color = rgb;
  /// An image that declares more is refused before memory is taken.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  int max_scans = 64;  ///< JPEG: a progressive image with more scans is refused
  bool accept_warnings =
      false;  ///< JPEG: true: damage that libjpeg can guess its way around makes pixels, not an error
  JpegOptions::Cmyk cmyk = JpegOptions::Cmyk::inverted;  ///< JPEG: what the values of a CMYK image mean
  bool apply_orientation = false;  ///< JPEG: true: turned and mirrored as the Exif data says; false: as stored. What
                                   ///< Exif data of a PNG says is never read
  DType dtype = DType::u8;  ///< u8, or u16: 16-bit values as they are, others (those of JPEGs too) times 257 (but
                            ///< `labels` as they are)
  bool high_byte = false;  ///< PNG to u8: true: of 16-bit values the upper 8 bits are kept; false: they are unsupported
};

/// Decodes JPEG or PNG, whichever a sample's first bytes say, exactly as `decode_jpeg` and `decode_png` do. Stages that
/// follow fold into it like into those. After `batch`, of a ragged field, the loader's threads decode.
///
/// `field`: u8 [bytes] to u8 [H, W, 3] (or as `color` and `dtype` say). Errors, all of one sample: those of the two
/// decoders, and unsupported for data that begins like neither, with its first bytes.
PENSTOCK_API Stage decode_image(std::string field = "image", const DecodeImageOptions& options = {});

/// The codec in it, for use without a pipeline. Any thread. @throws Error(invalid_argument) for limits below 1 and
/// for another dtype.
PENSTOCK_API std::shared_ptr<const ImageDecoder> any_image_decoder(const DecodeImageOptions& options = {});

}  // namespace penstock
