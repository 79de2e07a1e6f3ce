// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/stages/image_fields.hpp>
#include <penstock/stages/stage.hpp>
#include <penstock/transforms/decode_jpeg.hpp>

namespace penstock {

/// Settings of `decode_image`. They have the meaning of the same settings in the options of each format, like
/// `PngOptions`. All are result options.
struct DecodeImageOptions {
  /// Which channels the result has.
  enum Color : std::uint8_t {
    rgb,        ///< [H, W, 3]; grey images get three equal channels, opacity is left out
    gray,       ///< [H, W, 1]
    as_stored,  ///< [H, W, C]: 1 or 3 channels for JPEG, 1 to 4 for PNG and TIFF, 3 or 4 for
                ///< WebP
    /// [H, W, 1], for label masks: the numbers that are stored in a PNG or TIFF, like `PngOptions::labels`. JPEG and
    /// WebP are unsupported, because they need not keep exact numbers.
    labels,
  };
  /// Which channels the result has.
  Color color = rgb;
  /// JPEG: at which size the image is decoded. Other images are always decoded in full.
  JpegOptions::Scale scale = JpegOptions::Scale::full;
  /// Limit on the pixels that an image declares. A larger image is refused before memory is taken.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
  int max_scans = 64;  ///< JPEG: an image with more scans than this is refused
  /// JPEG: if true, damage is not an error as long as libjpeg can guess the pixels.
  bool accept_warnings = false;
  JpegOptions::Cmyk cmyk = JpegOptions::Cmyk::inverted;  ///< JPEG: what the values of a CMYK image mean
  /// JPEG and TIFF: if true, the image is turned and mirrored as its Exif data or its tag Orientation says; if false,
  /// it stays as stored. Exif data of a PNG or WebP is never read.
  bool apply_orientation = false;
  /// u8 or u16. With u16, 16-bit values stay as they are, and other values are multiplied by 257.
  /// Values of `labels` are never multiplied.
  DType dtype = DType::u8;
  /// For PNGs and TIFFs of 16 bits, if `dtype` is u8 and `color` is not `labels`. If true, values keep their upper 8
  /// bits. If false, such an image is unsupported.
  bool high_byte = false;
  /// TIFF: which page is decoded, counted from 0, like `TiffOptions::page`. By default, a TIFF must have one page.
  std::optional<std::uint32_t> page = std::nullopt;
};

/// Decodes JPEG, PNG, WebP or TIFF, exactly like `decode_jpeg`, `decode_png`, `decode_webp` and `decode_tiff`. The
/// first bytes of the data show its format. WebP and TIFF need the components `webp` and `tiff`; a build without them
/// refuses such images by name. Image stages that follow fold into this stage. If this stage stands after `batch`, on a
/// ragged field, the loader's threads decode, and `scale` must not be `fit`.
///
/// The first field: u8 [bytes] becomes u8 [H, W, 3] (or as `color` and `dtype` set). Errors of decoding are of one
/// sample: the errors of the format's own stage, and unsupported, with the first bytes, if the data begins like no such
/// format. Boxes, points and instance masks may follow it. They are of the stored image, and turn with it if
/// `apply_orientation` is set: `decode_image({"image", boxes("boxes")}, {.apply_orientation = true})`.
/// @throws Error(invalid_argument) like `any_image_decoder` and `decode_stage`.
PENSTOCK_API Stage decode_image(ImageFields fields = "image", const DecodeImageOptions& options = {});

/// Returns the codec of the stage, for use without a pipeline. Any thread may call it.
/// @throws Error(invalid_argument) if a limit is below 1, or `dtype` is neither u8 nor u16.
PENSTOCK_API std::shared_ptr<const ImageDecoder> any_image_decoder(const DecodeImageOptions& options = {});

}  // namespace penstock
