// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <penstock/detail/export.hpp>
#include <penstock/extend/image_decoder.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock {

/// Settings of `decode_webp`. All are result options.
struct WebpOptions {
  /// Which channels the result has.
  enum Color : std::uint8_t {
    rgb,        ///< [H, W, 3]; opacity is left out
    gray,       ///< [H, W, 1], made from RGB like for `PngOptions::gray`
    rgba,       ///< [H, W, 4]; if the file has no opacity, every pixel gets 255
    as_stored,  ///< [H, W, 3], or [H, W, 4] if the file has opacity
  };
  /// Which channels the result has.
  Color color = rgb;
  /// Limit on the pixels that an image declares. A larger image is refused before memory is taken.
  std::uint64_t max_pixels = std::uint64_t{1} << 28;
};

/// Decodes still WebP images, lossy and lossless, with and without opacity, to the pixels of libwebp's own decoder with
/// its smooth ("fancy") upsampling. Colour profiles, Exif data and XMP are skipped, so no orientation is applied.
///
/// Image stages that follow decide which part of the image is decoded. The part's pixels are the same as if the whole
/// image were decoded. Rows below the part are not decoded, except with `check({.verify = true})`.
///
/// An image is corrupt if the file is shorter than it declares, if a chunk goes beyond the file's declared end, or if
/// libwebp refuses it. WebP has no checksums: other damage of compressed pixels may only change pixels. Bytes after the
/// declared end are ignored.
///
/// libwebp allocates memory of its own: about 4 bytes per pixel for a lossless image, 1 for opacity, and otherwise a
/// few rows. This memory is not part of the loader's byte budget.
///
/// `field`: u8 [bytes] becomes u8 [H, W, 3] (or as `color` sets). Errors of decoding are of one sample: corrupt,
/// unsupported (animations), limit_exceeded.
/// @throws Error(invalid_argument) like `webp_decoder`.
PENSTOCK_API Stage decode_webp(std::string field = "image", const WebpOptions& options = {});

/// Returns the codec of the stage, for use without a pipeline. Any thread may call it.
/// @throws Error(invalid_argument) if `max_pixels` is below 1.
PENSTOCK_API std::shared_ptr<const ImageDecoder> webp_decoder(const WebpOptions& options = {});

}  // namespace penstock
